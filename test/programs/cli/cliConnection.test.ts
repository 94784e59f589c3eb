import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { createServer, type Server } from "node:http"
import { networkInterfaces } from "node:os"
import { COMMAND_NAMES } from "../../../src/programs/cli/commandTable.ts"
import { makeDaemon } from "../../../src/programs/cli/daemon.ts"
import { RPC_CODE, RpcError } from "../../../src/rpc/method/RpcError.ts"
import { inputOf } from "../../config/input.ts"
import { asleepFor } from "../../support/eventually.ts"
import { fakeMethod } from "../../support/fakeMethod.ts"
import { HEALTHY } from "../../support/healthy.ts"
import { FAKE_METHODS, GENESIS, testServer } from "../../support/rpcServer.ts"
import { cli, CREDENTIALS, failed, flags, server } from "./cliRun.ts"

/** An address of this machine that is not loopback, if it has one. */
const OUTSIDE = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address

/** Lets a server of the test listen. Returns its port. */
const listening = (server: Server, host = "127.0.0.1") =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => void server.listen(0, host, () => resume(Effect.succeed(server)))),
    () => Effect.sync(() => server.close())
  ).pipe(Effect.map(() => {
    const address = server.address()
    return typeof address === "object" ? address?.port : undefined
  }))

describe("svcd-cli", () => {
  it.scopedLive("distinguishes wrong credentials, missing credentials and an unreachable daemon", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      const at = ["-rpcaddr", `127.0.0.1:${port}`]
      const none = yield* cli([...at, "getblockcount"])
      assert.deepStrictEqual([none.code, none.stdout], [1, ""])
      assert.match(none.stderr, /^error: Authorization failed: 127\.0\.0\.1:\d+ requires credentials\n/)
      const wrong = yield* cli([...at, "-rpcuser", "cli", "-rpcpassword", "guess", "getblockcount"])
      assert.match(wrong.stderr, /^error: Authorization failed: 127\.0\.0\.1:\d+ requires other credentials\n/)
      assert.notInclude(wrong.stderr, "guess")
    }))

  it.live("reports the address without a listener", () =>
    Effect.gen(function*() {
      const port = yield* Effect.scoped(Effect.map(testServer(), (each) => each.port))
      const { code, stderr } = yield* cli(["-rpcaddr", `127.0.0.1:${port}`, "getblockcount"])
      assert.strictEqual(code, 1)
      assert.match(stderr, new RegExp(`^error: cannot reach a daemon at 127\\.0\\.0\\.1:${port}: connection refused\n`))
    }))

  it.scopedLive("reads the connection from the environment and from svcd.conf; flags win", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      const at = ["-rpcaddr", `127.0.0.1:${port}`]
      const env = { SVCD_RPC_USER: "cli", SVCD_RPC_PASSWORD: "s3cret" }
      assert.strictEqual((yield* cli([...at, "getblockcount"], { env })).stdout, "0\n")
      const files = {
        "/data/svcd.conf": `rpcaddr = "127.0.0.1:${port}"\nrpcuser = "cli"\nrpcpassword = "s3cret"\n`,
        "/home/test/.svcd/svcd.conf": "rpcuser = \"other\"\nrpcpassword = \"x\"\n"
      }
      assert.strictEqual((yield* cli(["-datadir", "/data", "getblockcount"], { files })).stdout, "0\n")
      assert.strictEqual(
        (yield* cli(["getblockcount"], { files, env: { SVCD_DATA_DIR: "/data" } })).stdout,
        "0\n"
      )
      assert.strictEqual((yield* cli([...flags(port), "getblockcount"], { files })).stdout, "0\n")
      assert.strictEqual((yield* cli([...at, "getblockcount"], { files })).code, 1)
    }))

  it.scopedLive("reads the password from standard input, and parameters after it", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      const at = ["-rpcaddr", `127.0.0.1:${port}`, "-rpcuser=cli", "-stdinrpcpass"]
      assert.strictEqual((yield* cli([...at, "getblockcount"], { stdin: "s3cret\n" })).stdout, "0\n")
      const both = yield* cli([...at, "-stdin", "getblockhash"], { stdin: "s3cret\n0\n" })
      assert.strictEqual(both.stdout, `${GENESIS}\n`)
      assert.match((yield* cli([...at, "getblockcount"], { stdin: "" })).stderr, /rpcpassword/)
    }))

  /** Each command of svcd-cli that asks a daemon, with its words. */
  const COMMANDS: ReadonlyArray<ReadonlyArray<string>> = COMMAND_NAMES
    .filter((name) => !["doctor", "lint", "rpcauth", "verify-proof"].includes(name))
    .map((name) => [name])

  it.scopedLive("does nothing with a daemon of another network than the named one, whatever the command", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      const at = ["-rpcaddr", `127.0.0.1:${port}`]
      const named = [
        [["-network=mainnet"], {}, "-network"],
        [[], { env: { SVCD_NETWORK: "mainnet" } }, "SVCD_NETWORK"],
        [["-datadir=/d"], { files: { "/d/svcd.conf": "network = \"mainnet\"" } }, "/d/svcd.conf:1"]
      ] as const
      const methods = [["getblockcount"], ["stop"], ["nosuch"], ["-stdin", "getblockhash"], [
        "-named",
        "name_show",
        "name=d/x"
      ]]
      for (const [words, surroundings, source] of named) {
        for (const command of [...methods, ...COMMANDS]) {
          const all = [...at, ...words, ...command]
          const { code, stderr, stdout } = yield* cli(all, { stdin: "0\n", ...surroundings })
          const what = `${all.join(" ")}: ${stderr}`
          assert.deepStrictEqual([code, stdout], [2, ""], what)
          // A command that misses its words says so, and asks no daemon.
          if (!COMMANDS.includes(command) || stderr.includes("the daemon at")) {
            assert.include(stderr, `error: the daemon at 127.0.0.1:${port} is on regtest, not mainnet`, what)
            assert.include(stderr, `mainnet is from ${source}: `, what)
          }
        }
      }
      const doctor = yield* cli([...at, "-network=mainnet", "doctor"])
      assert.include(doctor.stdout, "is on regtest, not mainnet")
      assert.strictEqual(doctor.code, 1)
    }))

  describe("with a cookie of Namecoin Core", () => {
    const COOKIE = "cli:s3cret"

    it.scopedLive("reads the given file", () =>
      Effect.gen(function*() {
        const { port } = yield* server
        const at = ["-rpcaddr", `127.0.0.1:${port}`]
        const files = { "/home/test/work/c/.cookie": COOKIE, "/broken": "no colon", "/home/test/wrong": "cli:other\n" }
        assert.strictEqual((yield* cli([...at, "-rpccookiefile=c/.cookie", "getblockcount"], { files })).stdout, "0\n")
        assert.deepStrictEqual(
          yield* cli([...at, "-rpccookiefile=/none", "getblockcount"], { files }),
          failed(1, "error: cookie file /none does not exist; the daemon creates it when it starts\n")
        )
        assert.deepStrictEqual(
          yield* cli([...at, "-rpccookiefile=/broken", "getblockcount"], { files }),
          failed(1, "error: cookie file /broken has no user:password in it\n")
        )
        const wrong = yield* cli([...at, "-rpccookiefile=~/wrong", "getblockcount"], { files })
        assert.include(wrong.stderr, "requires other credentials than those in /home/test/wrong")
        assert.notInclude(wrong.stderr, "cli:other")
      }))

    it.scopedLive("finds the cookie of the network if no credentials are set and the daemon requires them", () =>
      Effect.gen(function*() {
        const { port } = yield* server
        const at = ["-rpcaddr", `127.0.0.1:${port}`, "getblockcount"]
        const files = {
          "/home/test/.namecoin/.cookie": COOKIE,
          "/home/test/.namecoin/regtest/.cookie": "cli:other"
        }
        assert.strictEqual((yield* cli(at, { files })).stdout, "0\n")
        const other = yield* cli(["-network=regtest", ...at], { files })
        assert.include(other.stderr, "than those in /home/test/.namecoin/regtest/.cookie")
        const onTestnet = yield* testServer({
          credentials: CREDENTIALS,
          methods: FAKE_METHODS,
          health: Effect.succeed({ ...HEALTHY, network: "testnet" })
        })
        const testnet = yield* cli(["-network=testnet", "-rpcaddr", `127.0.0.1:${onTestnet.port}`, "getblockcount"], {
          files: { "/home/test/.namecoin/testnet3/.cookie": COOKIE }
        })
        assert.strictEqual(testnet.stdout, "0\n")
        const own = { ...files, "/home/test/.svcd/.cookie": "cli:stale", "/place/.cookie": COOKIE }
        // A daemon that was killed leaves its cookie behind.
        assert.strictEqual((yield* cli(at, { files: own })).stdout, "0\n")
        assert.strictEqual((yield* cli(["-datadir=/place", ...at], { files: own })).stdout, "0\n")
        const elsewhere = { "/place/svcd.conf": "rpccookiefile = \"sub/c\"", "/place/sub/c": COOKIE }
        assert.strictEqual((yield* cli(["-datadir=/place", ...at], { files: elsewhere })).stdout, "0\n")
        const given = yield* cli(["-rpcuser=cli", "-rpcpassword=x", ...at], { files })
        assert.match(given.stderr, /requires other credentials\n/)
      }))

    it.scopedLive("reads it again when the daemon has started again with another one", () =>
      Effect.gen(function*() {
        const { port } = yield* server
        let cookie = COOKIE
        const daemon = yield* makeDaemon({
          connection: {
            network: "mainnet",
            networkFrom: undefined,
            dataDir: "/place",
            rpc: { host: "127.0.0.1", port, credentials: undefined },
            cookieFile: "/place/.cookie",
            rpcAddrFrom: "default"
          },
          wallet: undefined,
          cookieFile: undefined,
          timeout: 10,
          wait: undefined,
          input: inputOf([], {
            files: {
              get "/place/.cookie"() {
                return cookie
              }
            }
          })
        })
        cookie = "cli:of the start before"
        assert.strictEqual((yield* Effect.flip(daemon.call("getblockcount")))._tag, "RpcUnauthorized")
        cookie = COOKIE
        assert.isTrue(yield* Effect.isSuccess(daemon.call("getblockcount")))
      }))

    it.scopedLive.skipIf(OUTSIDE === undefined)(
      "does not send an unnamed cookie to another address",
      () =>
        Effect.gen(function*() {
          const seen: Array<string | undefined> = []
          const stranger = createServer((request, response) => {
            seen.push(request.headers.authorization)
            response.writeHead(401).end()
          })
          const port = yield* listening(stranger, OUTSIDE)
          const files = { "/home/test/.namecoin/.cookie": COOKIE }
          const { stderr } = yield* cli(["-rpcaddr", `${OUTSIDE}:${port}`, "getblockcount"], { files })
          assert.match(stderr, /requires credentials\n/)
          assert.deepStrictEqual(seen, [undefined])
        })
    )

    it.effect("is refused together with a user name", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(
          yield* cli(["-rpccookiefile=/c", "-rpcuser=a", "-rpcpassword=b", "getblockcount"]),
          failed(
            2,
            "svcd-cli: -rpccookiefile: replaces -rpcuser; give one of the two\n" +
              "svcd-cli: -rpccookiefile: replaces -rpcpassword; give one of the two\n"
          )
        )
      }))
  })

  it.effect("stops waiting at its timeout", () =>
    Effect.gen(function*() {
      const port = yield* Effect.scoped(Effect.map(testServer(), (each) => each.port))
      const argv = ["-rpcaddr", `127.0.0.1:${port}`, "-rpcwait", "-rpcwaittimeout=1", "getblockcount"]
      const waiting = yield* Effect.fork(cli(argv))
      yield* asleepFor("1 second")
      yield* TestClock.adjust("1 second")
      const { code, stderr } = yield* Fiber.join(waiting)
      assert.strictEqual(code, 1)
      assert.include(stderr, "It is from -rpcaddr: is svcd running")
    }))

  it.effect("says once what -rpcwait waits for", () =>
    Effect.gen(function*() {
      const port = yield* Effect.scoped(Effect.map(testServer(), (each) => each.port))
      const notes: Array<string> = []
      const argv = ["-rpcaddr", `127.0.0.1:${port}`, "-rpcwait", "-rpcwaittimeout=6", "getblockcount"]
      const waiting = yield* Effect.fork(cli(argv, { notes }))
      for (let second = 0; second < 6; second++) {
        yield* asleepFor("1 second")
        assert.lengthOf(notes, second < 3 ? 0 : 1)
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual((yield* Fiber.join(waiting)).code, 1)
      assert.deepStrictEqual(notes, [
        `svcd-cli: waiting for a daemon at 127.0.0.1:${port} (Ctrl-C ends it, -rpcwaittimeout limits it)`
      ])
    }))

  it.scoped("waits for no second chance of a call that the daemon may have received", () =>
    Effect.gen(function*() {
      let calls = 0
      const server = createServer((request) => {
        calls += 1
        request.socket.destroy()
      })
      const port = yield* listening(server)
      const { code, stderr } = yield* cli(["-rpcaddr", `127.0.0.1:${port}`, "-rpcwait", "sendtoaddress", "N1", "1"])
      assert.strictEqual(code, 1)
      assert.include(stderr, "may have received the call")
      assert.strictEqual(calls, 1)
    }))

  it.scoped("counts the duration of a try as waiting", () =>
    Effect.gen(function*() {
      let tries = 0
      const slow = fakeMethod({ name: "getblockcount", group: "Blockchain", params: {} }, () =>
        Effect.delay(
          Effect.suspend(() => {
            tries++
            return new RpcError({ code: RPC_CODE.warmUp, message: "Loading" })
          }),
          "1050 millis"
        ))
      const { port } = yield* testServer({ methods: [slow] })
      const argv = ["-rpcaddr", `127.0.0.1:${port}`, "-rpcwait", "-rpcwaittimeout=1", "getblockcount"]
      const waiting = yield* Effect.fork(cli(argv))
      yield* asleepFor("1050 millis")
      yield* TestClock.adjust("1050 millis")
      assert.strictEqual((yield* Fiber.join(waiting)).code, 28)
      assert.strictEqual(tries, 1)
    }))

  it.scoped("waits for a starting daemon, if requested", () =>
    Effect.gen(function*() {
      const { lifecycle, port } = yield* testServer({ warmUp: true })
      const at = ["-rpcaddr", `127.0.0.1:${port}`]
      assert.strictEqual((yield* cli([...at, "getblockcount"])).code, 28)
      const waiting = yield* Effect.fork(cli([...at, "-rpcwait", "getblockcount"]))
      yield* asleepFor("1 second")
      yield* lifecycle.running
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(waiting)).stdout, "0\n")
    }))
})
