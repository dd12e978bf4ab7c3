// Adds the bearer token in PAWL_MCP_TOKEN to every request of a Node program that has no option for headers. It is loaded
// before the program (node --import). Requests by fetch and undici share a dispatcher; those by node:http are wrapped.
import http from "node:http";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { join } from "node:path";

const undici = createRequire(join(process.env.PAWL_MCP_TOOLS, "package.json"))("undici");
const header = `Bearer ${process.env.PAWL_MCP_TOKEN}`;

// The headers of a request come as a list of names and values, as pairs, or as an object.
function authorized(headers) {
  if (Array.isArray(headers)) return [...headers, "authorization", header];
  if (headers && typeof headers[Symbol.iterator] === "function") return [...headers, ["authorization", header]];
  return { ...headers, authorization: header };
}

undici.setGlobalDispatcher(
  new undici.Agent().compose((dispatch) => (options, handler) => dispatch({ ...options, headers: authorized(options.headers) }, handler)),
);

const request = http.request;
http.request = (...args) => {
  const at = args.findIndex((a) => a && typeof a === "object" && !(a instanceof URL));
  if (at < 0) args.splice(1, 0, { headers: authorized() });
  else args[at] = { ...args[at], headers: authorized(args[at].headers) };
  return request(...args);
};
syncBuiltinESMExports();
