import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { temporaryDirectory } from "../../support/chain.ts"
import { SECRET } from "./transferNode.ts"

/** Name servers of others as secondaries, each where it is installed. */

export const isInstalled = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0

export const freePort: Effect.Effect<number> = Effect.async((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0)))
  })
})

export interface SecondaryServer {
  readonly program: string
  readonly args: (directory: string) => ReadonlyArray<string>
  /** Files by name. */
  readonly files: (at: { readonly directory: string; readonly port: number; readonly primary: number }) => Readonly<
    Record<string, string>
  >
}

const secret = SECRET.toString("base64")

export const SERVERS: ReadonlyArray<SecondaryServer> = [
  {
    program: "nsd",
    args: (directory) => ["-d", "-c", join(directory, "nsd.conf")],
    files: ({ directory, port, primary }) => ({
      "nsd.conf": `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  zonesdir: "${directory}"
  database: ""
  pidfile: "${directory}/nsd.pid"
  xfrdfile: "${directory}/xfrd.state"
  zonelistfile: "${directory}/zone.list"
  xfrdir: "${directory}"
  xfrd-reload-timeout: 0
  rrl-ratelimit: 0
  minimal-responses: yes
remote-control:
  control-enable: no
key:
  name: transfer.example
  algorithm: hmac-sha256
  secret: "${secret}"
zone:
  name: bit
  zonefile: bit.zone
  request-xfr: 127.0.0.1@${primary} transfer.example
  allow-notify: 127.0.0.1 transfer.example
`
    })
  },
  {
    program: "knotd",
    args: (directory) => ["-c", join(directory, "knot.conf")],
    files: ({ directory, port, primary }) => ({
      "knot.conf": `server:
  listen: 127.0.0.1@${port}
  rundir: ${directory}
database:
  storage: ${directory}
key:
  - id: transfer.example
    algorithm: hmac-sha256
    secret: ${secret}
remote:
  - id: svcd
    address: 127.0.0.1@${primary}
    key: transfer.example
acl:
  - id: notified
    address: 127.0.0.1
    key: transfer.example
    action: notify
template:
  - id: default
    storage: ${directory}
zone:
  - domain: bit
    master: svcd
    acl: notified
`
    })
  },
  {
    program: "named",
    args: (directory) => ["-g", "-c", join(directory, "named.conf")],
    files: ({ directory, port, primary }) => ({
      "named.conf": `options {
  directory "${directory}"; pid-file none; session-keyfile none; managed-keys-directory "${directory}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; minimal-responses yes; allow-transfer { none; };
};
controls { };
key transfer.example { algorithm hmac-sha256; secret "${secret}"; };
server 127.0.0.1 { keys { transfer.example; }; };
zone bit { type secondary; primaries { 127.0.0.1 port ${primary} key transfer.example; }; allow-notify { key transfer.example; }; file "bit.db"; };
`
    })
  }
]

/** Starts a secondary that ends with the scope. */
export const started = (
  { args, files, program }: SecondaryServer,
  at: { readonly port: number; readonly primary: number }
) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    for (const [name, content] of Object.entries(files({ directory, ...at }))) {
      writeFileSync(join(directory, name), content)
    }
    let said = ""
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const child = spawn(program, args(directory), { stdio: ["ignore", "pipe", "pipe"] })
        for (const stream of [child.stdout, child.stderr]) {
          stream.on("data", (bytes: Buffer) => {
            said += bytes.toString()
          })
        }
        return child
      }),
      (child) =>
        Effect.async<void>((resume) => {
          if (child.exitCode !== null) return resume(Effect.void)
          child.once("exit", () => resume(Effect.void))
          child.kill("SIGKILL")
        })
    )
    return { said: () => said }
  })
