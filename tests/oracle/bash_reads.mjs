// What tree-sitter's grammar of bash reads in scripts: each line of standard input is one as a JSON string, each line of the answer
// [kind, commands]. kind is "plain" (nothing but commands of plain words, joined by && || ; | and newlines), "heredoc" (one such command
// with one here-document that expands nothing) or what else there is; commands are lists of words, with quotes resolved.
// Argument: the directory whose node_modules hold the packages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const packages = createRequire(`${process.argv[2]}/`);
const { Language, Parser } = packages("web-tree-sitter");

const joined = new Set(["program", "list", "pipeline"]);
const joining = new Set(["&&", "||", ";", "|", "\n"]);

class More extends Error {}

function more(node) {
  throw new More(node.isError ? "an error" : node.type);
}

// A quote's text is what lies between its marks: not all of that are nodes of their own.
function wordOf(node) {
  const text = node.text;
  switch (node.type) {
    case "word":
    case "number":
      if (node.namedChildCount > 0 || text.includes("\\")) more(node);
      return text;
    case "raw_string":
      return text.slice(1, -1);
    case "string":
      for (const part of node.namedChildren) if (part.type !== "string_content") more(part);
      if (node.children.some((part) => !part.isNamed && part.type !== '"')) more(node);
      return text.slice(1, -1).replace(/\\([$`"\\])/g, "$1").replace(/\\\n/g, "");
    case "concatenation":
    case "command_name":
      return node.children.map(wordOf).join("");
    default:
      return more(node);
  }
}

function commandsOf(node, found) {
  if (node.type === "command") {
    found.push(node.children.map(wordOf));
  } else if (joined.has(node.type)) {
    for (const child of node.children) {
      if (child.isNamed) commandsOf(child, found);
      else if (!joining.has(child.type)) more(child);
    }
  } else {
    more(node);
  }
  return found;
}

function heredocOf(program) {
  const [statement, other] = program.namedChildren;
  if (other || statement?.type !== "redirected_statement" || statement.namedChildCount !== 2) return null;
  const [command, redirect] = statement.namedChildren;
  if (command.type !== "command" || redirect.type !== "heredoc_redirect") return null;
  const words = command.children.map(wordOf);
  for (const part of redirect.namedChildren) {
    if (part.type === "heredoc_start" || part.type === "heredoc_end" || part.type === "heredoc_content") continue;
    if (part.type === "heredoc_body") for (const inner of part.namedChildren) inner.type === "heredoc_content" || more(inner);
    else words.push(wordOf(part));
  }
  return [words];
}

function read(tree) {
  const program = tree.rootNode;
  try {
    if (program.hasError) return ["an error", []];
    const fed = heredocOf(program);
    if (fed) return ["heredoc", fed];
    const found = commandsOf(program, []);
    return found.length ? ["plain", found] : ["nothing", []];
  } catch (error) {
    if (!(error instanceof More)) throw error;
    return [error.message, []];
  }
}

await Parser.init();
const parser = new Parser();
parser.setLanguage(await Language.load(packages.resolve("tree-sitter-bash/tree-sitter-bash.wasm")));
const answers = [];
for (const line of readFileSync(0, "utf8").split("\n")) {
  if (!line) continue;
  const tree = parser.parse(JSON.parse(line));
  answers.push(JSON.stringify(read(tree)));
  tree.delete();
}
process.stdout.write(answers.join("\n") + "\n");
