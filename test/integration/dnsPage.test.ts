import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { recipe } from "../../scripts/dns/recipes.ts"
import { freeDnsPort, programOf } from "../../scripts/dns/resolvers.ts"
import { TEST_CERTIFICATE, TEST_KEY } from "../support/certificate.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { freePort, type Node, runCommand, startNode, until } from "../support/daemon.ts"

/** A visitor's way to a page: a name registered on regtest, svcd's DNS, and the programs in front of it, as the docs show them. */

const NAME = "d/page"
const PAGE = "the page of a name\n"

/** Blocks from a NAME_NEW to the first that may hold its NAME_FIRSTUPDATE. */
const DEPTH = 12

const NGINX = fileURLToPath(new URL("../../contrib/nginx/svcd.conf", import.meta.url))

const Registrations = Schema.Array(Schema.Struct({ step: Schema.String }))

const isAt = (step: string) => (all: unknown) => Schema.decodeUnknownSync(Registrations)(all)[0]?.step === step

const hasOne = (pool: unknown): boolean => Array.isArray(pool) && pool.length === 1

/** Registers a name whose page is on this machine. */
const register = (node: Node) =>
  Effect.gen(function*() {
    const owner = yield* node.call("getnewaddress")
    const mine = (count: number) => node.call("generatetoaddress", count, owner)
    yield* mine(101)
    yield* node.call("name_autoregister", NAME, JSON.stringify({ ip: "127.0.0.1", map: { www: { alias: "" } } }))
    yield* until(node, "getrawmempool", hasOne)
    yield* mine(1)
    yield* until(node, "name_registrations", isAt("maturing"))
    yield* mine(DEPTH - 1)
    yield* until(node, "getrawmempool", hasOne)
    yield* mine(1)
    yield* until(node, "name_registrations", isAt("done"))
  })

const webServer = Effect.acquireRelease(
  Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer(({ headers: { host } }, response) => response.end(`${host}: ${PAGE}`))
    server.listen(
      0,
      "127.0.0.1",
      () => resume(Effect.succeed({ port: (server.address() as AddressInfo).port, close: () => server.close() }))
    )
  }),
  ({ close }) => Effect.sync(close)
)

/** A program that ends with the scope, and `ask` once it answers. */
const inFront = <A>(command: readonly [string, ...ReadonlyArray<string>], ask: Effect.Effect<A, string>) =>
  Effect.gen(function*() {
    const [program, ...args] = command
    let last = ""
    const ended = Effect.tap(runCommand(programOf(program) ?? program, ...args), ({ stderr }) =>
      Effect.sync(() => {
        last = `${program} ended: ${stderr}`
      }))
    yield* Effect.forkScoped(ended)
    return yield* ask.pipe(
      Effect.tapError((error) =>
        Effect.sync(() => {
          last = `${last}\n${error}`.slice(-2_000)
        })
      ),
      Effect.retry(Schedule.spaced("100 millis")),
      Effect.timeoutFail({ duration: "60 seconds", onTimeout: () => `nothing behind ${program}: ${last}` })
    )
  })

/** Has the page, or says what curl said. */
const curl = (...command: ReadonlyArray<string>) =>
  Effect.flatMap(
    runCommand(...command),
    ({ code, stderr, stdout }) => code === 0 ? Effect.succeed(stdout) : Effect.fail(`${code} ${stderr}`)
  )

const QUIET = ["--silent", "--show-error", "--noproxy", "*", "--max-time", "10"]

/** The server for DNS over HTTPS of contrib/nginx, at other ports and paths, and without IPv6. */
const nginxConf = (
  { directory, doh, port }: { readonly directory: string; readonly doh: number; readonly port: number }
): string => {
  const server = readFileSync(NGINX, "utf8").replaceAll(/^\s+listen \[::\].*$/gm, "")
    .replace("listen 8443 ssl;", `listen unix:${directory}/rpc.sock ssl;`)
    .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    .replaceAll(/\/etc\/ssl\/[^/]+/g, directory)
    .replaceAll("127.0.0.1:8053", `127.0.0.1:${doh}`)
  writeFileSync(join(directory, "svcd.conf"), server)
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${directory}/${kind};`).join(" ")
  return `daemon off; master_process off; pid ${directory}/nginx.pid; error_log ${directory}/error.log;
events { }
http { access_log off; ${places} include ${directory}/svcd.conf; }
`
}

const node = Effect.gen(function*() {
  const dns = yield* Effect.promise(freeDnsPort)
  const doh = yield* freePort
  const running = yield* startNode(
    yield* temporaryDirectory,
    ...["-dns", `127.0.0.1:${dns}`, "-dnssec", "-dnshttp", `127.0.0.1:${doh}`]
  )
  yield* running.ready
  yield* register(running)
  return { dns, doh }
})

const HAS_NGINX = programOf("nginx") !== undefined

/** Root alone can listen on port 53, and give a program a file of its own in the place of another. */
const HAS_DNSMASQ = process.getuid?.() === 0 && ["unshare", "dnsmasq"].every((name) => programOf(name) !== undefined)

/** Of this process alone: the system asks port 53. */
const OWN_ADDRESS = `127.${64 + (process.pid >> 16 & 63)}.${process.pid >> 8 & 255}.${process.pid & 255}`

describe.skipIf(programOf("curl") === undefined || !(HAS_DNSMASQ || HAS_NGINX))("a page under a name", () => {
  it.scopedLive("opens behind dnsmasq, and by DNS over HTTPS through nginx", () =>
    Effect.gen(function*() {
      const { dns, doh } = yield* node
      const { port: web } = yield* webServer
      const directory = yield* temporaryDirectory
      const own = (file: string, text: string): string => {
        writeFileSync(join(directory, file), text)
        return join(directory, file)
      }
      const page = (host: string) => [`http://${host}:${web}/`, `${host}:${web}: ${PAGE}`] as const

      if (HAS_DNSMASQ) {
        const conf = [
          ...["no-resolv", "no-hosts", "user=root", "bind-interfaces", `listen-address=${OWN_ADDRESS}`],
          `pid-file=${directory}/pid`,
          recipe("dnsmasq").replace("5391", String(dns))
        ].join("\n")
        // The system's resolver, for one program: it reads a file at one path.
        const resolvConf = own("resolv.conf", `nameserver ${OWN_ADDRESS}\n`)
        const script = "mount --bind \"$0\" /etc/resolv.conf && exec curl \"$@\""
        const [url, expected] = page("www.page.bit")
        const visit = curl("unshare", "--mount", "sh", "-c", script, resolvConf, ...QUIET, url)
        const got = yield* inFront(["dnsmasq", "-k", "-C", own("dnsmasq.conf", conf)], visit)
        assert.strictEqual(got, expected)
      }

      const [url, expected] = page("page.bit")
      const certificate = own("fullchain.pem", TEST_CERTIFICATE)
      if (HAS_NGINX) {
        own("privkey.pem", TEST_KEY)
        const port = yield* freePort
        const conf = own("nginx.conf", nginxConf({ directory, doh, port }))
        const visit = (path: string) =>
          curl("curl", ...QUIET, "--cacert", certificate, "--doh-url", `https://localhost:${port}${path}`, url)
        const got = yield* inFront(["nginx", "-c", conf, "-p", directory], visit("/dns-query"))
        assert.strictEqual(got, expected)
        assert.match(yield* Effect.flip(visit("/other")), /resolve host/)
      }
    }))
})
