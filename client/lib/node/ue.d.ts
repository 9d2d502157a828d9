/** Types of ue.mjs, where each is explained. Times are in milliseconds, offsets in bytes. */

export const version: string;
export const PROTOCOL: number;
/** Times and caps, which tests lower. */
export const limits: Record<string, number>;

/** Errors of muxd(7), and `protocol`, `timeout`, `fail_on`, `usage` of this library. */
export class UeError extends Error {
  readonly code: string;
  readonly data: Record<string, unknown>;
  /** Of TimedOut, Ended and Failed where a session was waited for. */
  answer?: Answer;
  session?: Session;
  constructor(code: string, message: string, data?: Record<string, unknown>);
}
export class NoDaemon extends UeError {}
export class ProtocolError extends UeError {}
export class TimedOut extends UeError {}
export class Ended extends UeError {}
export class Failed extends UeError {}
export class Cancelled extends UeError {}

/** What the daemon told (ANSWERS of muxd(7)); absent: not known. */
export class Answer {
  content?: string;
  output?: string;
  from?: number;
  to?: number;
  omitted_bytes?: number;
  session_id?: number;
  number?: number;
  name?: string;
  state?: "running" | "exited" | "signaled" | "killed" | "lost";
  exit_code?: number;
  signal?: string | number;
  reason?: "exit" | "until" | "ready" | "quiet" | "deadline" | "fail_on" | "stopping";
  evidence?: string;
  waiting_for?: "line" | "key" | "secret" | null;
  wall_time_seconds?: number;
  /** What matched: pattern, text, groups, offsets. */
  match?: Record<string, unknown>;
  /** The exact bytes of a call with encoding: "base64". */
  readonly exact: Buffer;
  [member: string]: any;
}

export type Input = string | Uint8Array;
export type Patterns = string | string[] | Record<string, string>;
export type Arguments = Record<string, unknown>;
export interface How {
  signal?: AbortSignal;
  timeoutMs?: number;
  meta?: Record<string, unknown>;
}
export type Tool = (args?: Arguments, how?: How) => Promise<Answer>;

export interface ClientOptions {
  socket?: string;
  start?: boolean;
  ue?: string;
  config?: string;
  reader?: string;
  profile?: string;
  name?: string;
  verb?: boolean;
  cwd?: string;
  env?: Record<string, string | undefined>;
  umask?: number;
  onApproval?: (told: Record<string, unknown>) => void;
}

export interface Waits {
  until?: Patterns;
  fail_on?: Patterns;
  ready?: boolean;
  quietMs?: number;
  exit?: boolean;
  /** null: no limit. */
  timeoutMs?: number | null;
  signal?: AbortSignal;
  [argument: string]: unknown;
}

export interface BeginOptions {
  name?: string;
  tty?: boolean;
  stdin?: boolean;
  rows?: number;
  cols?: number;
  env?: Record<string, string>;
  workdir?: string;
  until?: Patterns;
  quiet_ms?: number;
  follow?: boolean;
  wait?: boolean;
  timeoutMs?: number | null;
  encoding?: string | null;
  signal?: AbortSignal;
  [argument: string]: unknown;
}

export interface UeEvent {
  type: string;
  seq?: number;
  time?: string;
  session_id?: number;
  name?: string;
  [member: string]: any;
}

export interface EventOptions {
  types?: string[];
  session?: number | string;
  since?: number;
  max_bytes?: number;
  signal?: AbortSignal;
}

export interface Events extends AsyncIterableIterator<UeEvent> {
  readonly ready: Promise<void>;
  nextSeq: number;
  return(): Promise<IteratorResult<UeEvent>>;
}

export interface Listener {
  readonly ready: Promise<void>;
  readonly done: Promise<void>;
  close(): void;
}

export class Client {
  constructor(options?: ClientOptions);
  readonly socket?: string;
  readonly daemon?: Answer;
  call(tool: string, args?: Arguments, how?: How): Promise<Answer>;
  begin(cmd: string | string[] | undefined, options?: BeginOptions): Promise<Session>;
  session(ref: number | string, options?: { place?: number; encoding?: string | null }):
    Promise<Session>;
  sessions(options?: { all?: boolean }): Promise<Answer[]>;
  events(options?: EventOptions): Events;
  listen(callback: (event: UeEvent) => unknown, options?: EventOptions): Listener;
  upgrade(): Promise<Answer>;
  close(): void;
  exec_command: Tool;
  write_stdin: Tool;
  read_output: Tool;
  run_steps: Tool;
  read_screen: Tool;
  list_sessions: Tool;
  kill_session: Tool;
  shell_command: Tool;
  shell: Tool;
  apply_patch: Tool;
  rename_session: Tool;
  resize_session: Tool;
  remove_session: Tool;
  record_session: Tool;
  read_input: Tool;
  status: Tool;
  hello: Tool;
  /** Every other method of muxd(7). */
  [tool: string]: any;
}

export class Session {
  readonly client: Client;
  readonly number: number;
  readonly tty: boolean;
  name: string;
  place: number;
  mark: number;
  omitted: number;
  greeting: string | Buffer;
  last: Answer;
  write(text?: Input, options?: { keys?: string[]; enter?: boolean; paste?: boolean;
    eof?: boolean }): Promise<void>;
  line(text?: Input): Promise<void>;
  press(...keys: string[]): Promise<void>;
  ask(text?: Input, options?: Waits & { keys?: string[]; enter?: boolean; plain?: boolean }):
    Promise<any>;
  run(command: string, options?: { timeoutMs?: number | null; signal?: AbortSignal;
    [argument: string]: unknown }): Promise<Answer>;
  wait(options?: Waits): Promise<any>;
  until(pattern: Patterns, options?: Waits): Promise<any>;
  ready(options?: Waits): Promise<any>;
  ended(options?: { timeoutMs?: number | null; signal?: AbortSignal }): Promise<number | undefined>;
  read(options?: { timeoutMs?: number | null; signal?: AbortSignal }): Promise<any>;
  screen(args?: Arguments): Promise<string>;
  info(): Promise<Answer>;
  running(): Promise<boolean>;
  exitStatus(): Promise<number | undefined>;
  kill(signal?: string | number): Promise<Answer>;
  resize(rows: number, cols: number): Promise<void>;
  rename(name: string): Promise<void>;
  remove(): Promise<void>;
}

export function findUe(given?: string): string;
