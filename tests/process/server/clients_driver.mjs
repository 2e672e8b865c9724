// Calls tools by the TypeScript SDK, version 1 or 2, in whose folder it runs; see clients.py.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const here = createRequire(process.cwd() + "/");
const load = (name) => import(pathToFileURL(here.resolve(name)).href);

let text = "";
for await (const part of process.stdin) text += part;
const given = JSON.parse(text);
const [client, stdio, http] =
  given.client === "typescript1"
    ? await Promise.all(
        ["index", "stdio", "streamableHttp"].map((name) => load(`@modelcontextprotocol/sdk/client/${name}.js`)),
      )
    : await Promise.all(["", "/stdio", ""].map((name) => load(`@modelcontextprotocol/client${name}`)));
const options =
  given.client === "typescript1"
    ? {}
    : { versionNegotiation: { mode: given.mode === "legacy" ? "legacy" : { pin: "2026-07-28" } } };
const opened = new client.Client({ name: "clients", version: "1" }, options);
const [command, ...args] = given.command ?? [];
await opened.connect(
  given.url
    ? new http.StreamableHTTPClientTransport(new URL(given.url), { requestInit: { headers: given.headers } })
    : new stdio.StdioClientTransport({ command, args, env: given.env, stderr: "ignore" }),
);
await opened.listTools();
const answers = [];
for (const [name, values] of given.calls) {
  try {
    const result = await opened.callTool({ name, arguments: values });
    answers.push([Boolean(result.isError), result.content.map((part) => part.text).join("\n")]);
  } catch (error) {
    answers.push([true, String(error)]);
  }
}
process.stdout.write("\n" + JSON.stringify(answers) + "\n", () => process.exit(0));
