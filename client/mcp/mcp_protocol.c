/* mcp_protocol: owns the revisions of MCP: their list, their negotiation, and the forms of each. */
#include "base/bug.h"
#include "base/utf8.h"
#include "client/mcp/mcp.h"
#include "client/rpc/schemas.h"
#include <string.h>

#define KEY "io.modelcontextprotocol/"
#define LIST_TTL_MS 60000 /* short, as a reload of the config may change the list */

static const char instructions[] =
    "Commands run in sessions that belong to muxd, a daemon of the user's: they go on when this "
    "connection ends, a person can watch and "
    "join them, and each has a number and a name.\n"
    "- exec_command starts one; it returns when the command has ended, or after yield_time_ms with "
    "a session_id. `until` (a regular "
    "expression) returns as soon as that was printed, `exit` waits for the end.\n"
    "- For programs that ask or prompt set tty; the call returns when the program waits for input. "
    "write_stdin types: chars literally, "
    "named keys (Enter, C-c, Up) in keys. With no chars it waits for what comes next.\n"
    "- Give long-lived sessions a name and use it as session_id: names stay valid when your "
    "context is shortened.\n"
    "- read_output with since returns earlier output again; offsets are in the structured result "
    "(from, to). list_sessions shows what "
    "runs, kill_session ends a session with all its processes.\n"
    "- Secrets are typed by the person at their own terminal, never through a tool.";

static const char *const words[MCP_VERSION_COUNT] = {"2024-11-05", "2025-03-26", "2025-06-18",
                                                     "2025-11-25", "2026-07-28"};

static enum mcp_version version_by_word(const char *word)
{
    for (int i = 0; word && i < MCP_VERSION_COUNT; i++)
        if (strcmp(words[i], word) == 0)
            return (enum mcp_version)i;
    return MCP_NONE;
}

static void add_supported(struct json *into, const char *key)
{
    struct json *list = json_add_array(into, key);
    for (int i = MCP_VERSION_COUNT - 1; i >= 0; i--)
        json_add_text(list, NULL, words[i]);
}

static void add_server(struct json *into, const char *key)
{
    struct json *server = json_add_object(into, key);
    json_add_text(server, "name", "muxd");
    json_add_text(server, "title", "muxd terminal sessions");
    json_add_text(server, "version", MUXD_VERSION);
}

static void add_capabilities(struct json *into)
{
    json_add_bool(json_add_object(json_add_object(into, "capabilities"), "tools"), "listChanged",
                  false);
}

enum mcp_version mcp_version_of(const struct mcp *mcp, const struct json *params,
                                struct mcp_problem *problem)
{
    const struct json *meta = json_get(params, "_meta"),
                      *given = json_get(meta, KEY "protocolVersion");
    if (!given && mcp->version != MCP_NONE)
        return mcp->version;
    *problem = (struct mcp_problem){.code = MCP_INVALID_PARAMS};
    if (!given) {
        problem->text = "params._meta lacks " KEY
                        "protocolVersion; name it, or begin with initialize";
    } else if (version_by_word(json_str(given, NULL)) != MCP_2026_07_28) {
        *problem = (struct mcp_problem){MCP_UNSUPPORTED_VERSION, "Unsupported protocol version",
                                        json_object_new()};
        add_supported(problem->data, "supported");
        json_add(problem->data, "requested", json_copy(given));
    } else if (json_type(json_get(meta, KEY "clientCapabilities")) != JSON_OBJECT) {
        problem->text = "params._meta lacks the object " KEY "clientCapabilities";
    } else {
        return MCP_2026_07_28;
    }
    return MCP_NONE;
}

static void name_client(const struct json *info, char client[MCP_CLIENT_ROOM])
{
    const char *name = json_get_str(info, "name", NULL),
               *version = json_get_str(info, "version", NULL);
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.40s%s%.20s", name ? name : "", name && version ? "/" : "",
               name && version ? version : "");
    /* %.40s may have cut a character */
    bool whole = text.len < MCP_CLIENT_ROOM && utf8_valid(text.data, text.len);
    memcpy(client, text.data, whole ? text.len : 0);
    client[whole ? text.len : 0] = '\0';
    buf_fini(&text);
}

void mcp_client_of(const struct mcp *mcp, const struct json *params, char client[MCP_CLIENT_ROOM])
{
    const struct json *info = json_get(json_get(params, "_meta"), KEY "clientInfo");
    if (info)
        name_client(info, client);
    else
        memcpy(client, mcp->client, MCP_CLIENT_ROOM);
}

/* Read in the public sources of openai/codex and microsoft/vscode (nameLong of the product, which
 * is Code - OSS where it was built by others), and told by users in anthropics/claude-code, issue
 * 79944. google-gemini/gemini-cli gives its model content alone, and so do most others. */
bool mcp_shows_structured(const char *client)
{
    static const char *const names[] = {"codex", "claude-code", "Visual Studio Code", "Code - OSS",
                                        NULL};
    for (const char *const *at = names; *at; at++)
        if (strncmp(client, *at, strlen(*at)) == 0)
            return true;
    return false;
}

struct json *mcp_initialize(struct mcp *mcp, const struct json *params)
{
    enum mcp_version asked = version_by_word(json_get_str(params, "protocolVersion", NULL));
    struct json *result = json_object_new();
    name_client(json_get(params, "clientInfo"), mcp->client);
    /* else the newest revision with a handshake */
    mcp->version = asked == MCP_NONE || asked == MCP_2026_07_28 ? MCP_2025_11_25 : asked;
    mcp->elicits = mcp_can_elicit(json_get(params, "capabilities"), mcp->version);
    json_add_text(result, "protocolVersion", words[mcp->version]);
    add_capabilities(result);
    add_server(result, "serverInfo");
    json_add_text(result, "instructions", instructions);
    return result;
}

static void add_cache(struct json *into)
{
    json_add_int(into, "ttlMs", LIST_TTL_MS);
    json_add_text(into, "cacheScope", "private");
}

struct json *mcp_discover(void)
{
    struct json *result = json_object_new();
    add_supported(result, "supportedVersions");
    add_capabilities(result);
    json_add_text(result, "instructions", instructions);
    add_cache(result);
    return result;
}

bool mcp_elicits(const struct mcp *mcp, const struct json *params, enum mcp_version version)
{
    const struct json *meta = json_get(params, "_meta");
    return version >= MCP_2026_07_28 /* each of its requests tells that anew */
               ? mcp_can_elicit(json_get(meta, KEY "clientCapabilities"), version)
               : mcp->elicits && version == mcp->version;
}

void mcp_complete(struct json *result, const char *type)
{
    json_add_text(result, "resultType", type);
    struct json *meta = json_detach(result, "_meta");
    add_server(json_add(result, "_meta", meta ? meta : json_object_new()), KEY "serverInfo");
}

struct json *mcp_tools(const struct json *listed, enum mcp_version version)
{
    BUG_UNLESS(version > MCP_NONE && version < MCP_VERSION_COUNT);
    struct json *result = json_object_new(), *list = json_add_array(result, "tools");
    struct json *all = schemas_offered(listed, SCHEMA_MODEL, SCHEMA_MCP);
    for (const struct json *it = json_first(all); it; it = json_next(it)) {
        struct json *tool = json_add(list, NULL, json_copy(it));
        if (version < MCP_2025_06_18) {
            json_free(json_detach(tool, "title"));
            json_free(json_detach(tool, "outputSchema"));
        } else { /* the title stands beside the annotations */
            struct json *annotations = json_detach(tool, "annotations");
            json_free(json_detach(annotations, "title"));
            json_add(tool, "annotations", annotations);
        }
        if (version < MCP_2025_03_26)
            json_free(json_detach(tool, "annotations"));
    }
    json_free(all);
    if (version == MCP_2026_07_28)
        add_cache(result);
    return result;
}
