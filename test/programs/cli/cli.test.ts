import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Redacted, TestClock } from "effect"
import { createServer, type Server } from "node:http"
import { networkInterfaces } from "node:os"
import type { ProgressTerminal } from "../../../src/base/progressBar.ts"
import { run } from "../../../src/programs/cli/cli.ts"
import { makeDaemon } from "../../../src/programs/cli/daemon.ts"
import { printed } from "../../../src/programs/cli/outcome.ts"
import { Amount, type JsonValue } from "../../../src/rpc/json/encodeJson.ts"
import { method } from "../../../src/rpc/method/method.ts"
import * as Param from "../../../src/rpc/method/params.ts"
import { RPC_CODE, RpcError } from "../../../src/rpc/method/RpcError.ts"
import { inputOf } from "../../config/input.ts"
import { ANY_RESULT } from "../../support/anyResult.ts"
import { asleepFor } from "../../support/eventually.ts"
import { MUTE, SILENT } from "../../support/liveOutput.ts"
import { FAKE_METHODS, GENESIS, testServer } from "../../support/rpcServer.ts"

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly terminal?: boolean
  readonly progress?: ProgressTerminal
  readonly notes?: Array<string>
}

const cli = (
  argv: ReadonlyArray<string>,
  { env = {}, files = {}, notes = [], progress, stdin, terminal = false }: Surroundings = {}
) =>
  run({
    argv,
    env,
    readFile: (path) => Either.right(new Map(Object.entries(files)).get(path)),
    homedir: "/home/test",
    cwd: "/home/test/work",
    cores: 1,
    version: "1.2.3",
    screen: { terminal, columns: undefined, colours: false },
    progress,
    note: (line) => void notes.push(line),
    output: SILENT,
    readStdin: stdin === undefined ? Effect.die("standard input was read") : Effect.succeed(stdin),
    prompt: MUTE
  })

/** An address of this machine that is not loopback, if it has one. */
const OUTSIDE = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address

const CREDENTIALS = { user: "cli", password: Redacted.make("s3cret") }

const showing = method({
  name: "name_show",
  group: "Names",
  summary: "",
  params: { name: Param.string(""), options: Param.optional(Param.json("")) },
  results: ANY_RESULT,
  examples: [],
  handler: ({ name, options }) =>
    Effect.succeed({
      name,
      options: options ?? null,
      amount: new Amount(10),
      list: [1, [], {}, { a: "ä\n" }],
      none: null,
      yes: true
    })
})

const nothing = method({
  name: "nothing",
  group: "Hidden",
  summary: "",
  params: {},
  results: ANY_RESULT,
  examples: [],
  handler: () => Effect.succeed(null)
})

/** Lets a server of the test listen. Returns its port. */
const listening = (server: Server, host = "127.0.0.1") =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => void server.listen(0, host, () => resume(Effect.succeed(server)))),
    () => Effect.sync(() => server.close())
  ).pipe(Effect.map(() => {
    const address = server.address()
    return typeof address === "object" ? address?.port : undefined
  }))

const server = testServer({ credentials: CREDENTIALS, methods: [...FAKE_METHODS, showing, nothing] })

const flags = (port: number): ReadonlyArray<string> => [
  "-rpcaddr",
  `127.0.0.1:${port}`,
  "-rpcuser=cli",
  "--rpcpassword",
  "s3cret"
]

const failed = (code: number, stderr: string) => ({ code, stdout: "", stderr })

describe("svcd-cli", () => {
  it.scopedLive("draws on a terminal how far a search of the chain is, and its result alone behind it", () =>
    Effect.gen(function*() {
      const over = yield* Effect.makeLatch()
      let asked = 0
      const answering = (name: string, answer: Effect.Effect<JsonValue>) =>
        method({
          name,
          group: "Hidden",
          summary: "",
          params: {},
          results: ANY_RESULT,
          examples: [],
          handler: () => answer
        })
      const { port } = yield* testServer({
        credentials: CREDENTIALS,
        methods: [
          answering("rescanblockchain", Effect.as(over.await, { stop_height: 7 })),
          answering(
            "getwalletinfo",
            // The first answer is drawn before the second question.
            Effect.suspend(() => Effect.as(++asked === 2 ? over.open : Effect.void, { scanning: { progress: 0.5 } }))
          )
        ]
      })
      const drawn: Array<string> = []
      const progress = { columns: 100, write: (text: string) => void drawn.push(text) }
      const { code, stderr, stdout } = yield* cli([...flags(port), "rescanblockchain"], { progress })
      assert.deepStrictEqual([code, stdout, stderr], [0, "{\n  \"stop_height\": 7\n}\n", ""])
      assert.match(drawn[0] ?? "", /^\r\u001b\[2K\[#+\.+\] the wallet searches the chain for its keys: 50 % done$/)
      assert.strictEqual(drawn.at(-1), "\r\u001b[2K")
    }))

  it.effect("the doctor goes on where svcd.conf cannot be used, and reports it", () =>
    Effect.gen(function*() {
      const files = { "/home/test/.svcd/svcd.conf": "no TOML" }
      assert.strictEqual((yield* cli(["status"], { files })).code, 2)
      const { code, stdout } = yield* cli(["-rpcaddr", "127.0.0.1:1", "doctor", "-json"], { files })
      assert.strictEqual(code, 1)
      assert.match(stdout, /"check": "settings",\s+"state": "fail",\s+"text": "[^"]*svcd\.conf:1 is not TOML/)
    }))

  it.scopedLive("prints text without quotes, null not at all, and other values as JSON", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      const printed = (...args: ReadonlyArray<string>) => cli([...flags(port), ...args])
      assert.deepStrictEqual(yield* printed("getblockcount"), { code: 0, stdout: "0\n", stderr: "" })
      assert.deepStrictEqual(yield* printed("getblockhash", "0"), { code: 0, stdout: `${GENESIS}\n`, stderr: "" })
      assert.deepStrictEqual(yield* printed("nothing"), { code: 0, stdout: "", stderr: "" })
      assert.strictEqual(
        (yield* printed("name_show", "123", "{\"x\": 1.50}")).stdout,
        `{
  "name": "123",
  "options": {
    "x": 1.50
  },
  "amount": 0.00000010,
  "list": [
    1,
    [],
    {},
    {
      "a": "ä\\n"
    }
  ],
  "none": null,
  "yes": true
}
`
      )
    }))

  it.scopedLive("prints an error of the daemon as the reference client does, and exits with its code", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      assert.deepStrictEqual(
        yield* cli([...flags(port), "frobnicate"]),
        failed(89, "error code: -32601\nerror message:\nMethod not found\n")
      )
      assert.deepStrictEqual(
        yield* cli([...flags(port), "getblockhash", "1000000"]),
        failed(8, "error code: -8\nerror message:\nBlock height out of range\n")
      )
    }))

  it.scopedLive("prints an error as an object with -json, and a result that is a text as JSON", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      const errorOf = (...argv: ReadonlyArray<string>) =>
        Effect.map(cli([...flags(port), ...argv]), ({ code, stderr, stdout }) => {
          assert.strictEqual(stdout, "")
          assert.match(stderr, /^\{.*\}\n$/)
          return [code, JSON.parse(stderr).error]
        })
      assert.deepStrictEqual(yield* errorOf("-json", "getblockhash", "1000000"), [
        8,
        { code: -8, message: "Block height out of range" }
      ])
      assert.deepStrictEqual(yield* errorOf("-json", "getblokcount"), [
        89,
        { code: -32601, message: "Method not found", remedy: "Did you mean getblockcount?" }
      ])
      assert.deepStrictEqual(yield* errorOf("-json", "send", "N1", "1"), [
        1,
        {
          code: 1,
          message: "Error parsing JSON: N1",
          remedy: "To send coins to an address: svcd-cli pay N1 1"
        }
      ])
      assert.deepStrictEqual(yield* errorOf("-json", "-frob", "status"), [
        2,
        { code: 2, message: "-frob: unknown flag" }
      ])
      assert.deepStrictEqual(yield* errorOf("-json"), [2, {
        code: 2,
        message: "no method given",
        remedy: "see svcd-cli -help, and svcd-cli help for the methods"
      }])
      const gone = yield* cli(["-rpcaddr", "127.0.0.1:1", "status", "--json"])
      const { error } = JSON.parse(gone.stderr)
      assert.strictEqual(error.message, "cannot reach a daemon at 127.0.0.1:1: connection refused")
      assert.match(error.remedy, /^It is from -rpcaddr: is svcd running/)
      assert.strictEqual((yield* cli([...flags(port), "-json", "getblockhash", "0"])).stdout, `"${GENESIS}"\n`)
    }))

  it.scopedLive("accepts named parameters, and parameters from standard input", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      const named = yield* cli([...flags(port), "-named", "getblockhash", "height=0"])
      assert.strictEqual(named.stdout, `${GENESIS}\n`)
      const stdin = yield* cli([...flags(port), "-stdin", "name_show"], { stdin: "d/a b\n{\"n\":1}\n" })
      assert.strictEqual(JSON.parse(stdin.stdout).name, "d/a b")
      assert.deepStrictEqual(JSON.parse(stdin.stdout).options, { n: 1 })
      const alone = yield* cli([...flags(port), "-stdin"], { stdin: "getblockhash\r\n0\r\n" })
      assert.strictEqual(alone.stdout, `${GENESIS}\n`)
      assert.deepStrictEqual(JSON.parse((yield* cli([...flags(port), "-rpcwallet=w", "whoami"])).stdout).wallet, "w")
    }))

  it.scopedLive("reports the argument that is not JSON", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      assert.deepStrictEqual(
        yield* cli([...flags(port), "getblockhash", "zero"]),
        failed(1, "error: Error parsing JSON: zero\n")
      )
    }))

  it.scopedLive("repeats no argument from standard input, and none of a method with secrets", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      const refused = failed(
        1,
        "error: Error parsing JSON: parameter 2 of walletpassphrase is not JSON (it is not shown: it may be secret)\n"
      )
      const calls = [
        [["-stdin", "walletpassphrase", "60"], "a long pass phrase\n"],
        [["-stdin", "-named", "walletpassphrase", "60"], "timeout=a long pass phrase\n"],
        [["walletpassphrase", "60", "a long pass phrase"], ""]
      ] as const
      for (const [words, stdin] of calls) {
        assert.deepStrictEqual(yield* cli([...flags(port), ...words], { stdin }), refused)
      }
      const key = `c${"5".repeat(51)}`
      const secrets = [
        ["scantxoutset", "start", "wpkh(KEY)"],
        ["scanblocks", "start", "raw(KEY)"],
        ["utxoupdatepsbt", "00", "[KEY"],
        ["getdescriptoractivity", "[]", "KEY"],
        ["generatetodescriptor", "one", "wpkh(KEY)"],
        ["fundrawtransaction", "00", "KEY"],
        ["walletcreatefundedpsbt", "[]", "[]", "0", "KEY"],
        ["sendall", "KEY"],
        ["send", "KEY"],
        ["send", key, "1"],
        // In every method.
        ["getblockhash", key],
        ["getblockhash", "wpkh(KEY)"],
        ["getblockhash", "[\"combo(KEY)"],
        ["getblockhash", "[tprv8ZgxMBicQKEY"],
        ["-named", "getblockhash", `height=${key}`]
      ]
      for (const words of secrets) {
        const { code, stderr } = yield* cli([...flags(port), ...words])
        assert.strictEqual(code, 1)
        assert.match(stderr, /is not JSON \(it is not shown: it may be secret\)/, words.join(" "))
        assert.notMatch(stderr, /KEY|5555/, words.join(" "))
      }
      const other = yield* cli([...flags(port), "-stdin", "getblockhash"], { stdin: "zero\n" })
      assert.notInclude(other.stderr, "zero")
    }))

  it.scopedLive("distinguishes wrong credentials, missing credentials and an unreachable daemon", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      const at = ["-rpcaddr", `127.0.0.1:${port}`]
      const none = yield* cli([...at, "getblockcount"])
      assert.deepStrictEqual([none.code, none.stdout], [1, ""])
      assert.match(none.stderr, /^error: Authorization failed: 127\.0\.0\.1:\d+ wants credentials\n/)
      const wrong = yield* cli([...at, "-rpcuser", "cli", "-rpcpassword", "guess", "getblockcount"])
      assert.match(wrong.stderr, /^error: Authorization failed: 127\.0\.0\.1:\d+ wants other credentials\n/)
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

  it.scopedLive("suggests the method that was probably meant", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      assert.deepStrictEqual(
        yield* cli([...flags(port), "getblokcount"]),
        failed(89, "error code: -32601\nerror message:\nMethod not found\nDid you mean getblockcount?\n")
      )
      assert.include((yield* cli([...flags(port), "statsu"])).stderr, "Did you mean status?")
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
          failed(1, "error: cookie file /none is not there; the daemon makes it when it starts\n")
        )
        assert.deepStrictEqual(
          yield* cli([...at, "-rpccookiefile=/broken", "getblockcount"], { files }),
          failed(1, "error: cookie file /broken has no user:password in it\n")
        )
        const wrong = yield* cli([...at, "-rpccookiefile=~/wrong", "getblockcount"], { files })
        assert.include(wrong.stderr, "wants other credentials than those in /home/test/wrong")
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
        const testnet = yield* cli(["-network=testnet", ...at], {
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
        assert.match(given.stderr, /wants other credentials\n/)
      }))

    it.scopedLive("reads it again when the daemon has started again with another one", () =>
      Effect.gen(function*() {
        const { port } = yield* server
        let cookie = COOKIE
        const daemon = yield* makeDaemon({
          connection: {
            network: "mainnet",
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
          assert.match(stderr, /wants credentials\n/)
          assert.deepStrictEqual(seen, [undefined])
        })
    )

    it.effect("is refused together with a user name", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(
          yield* cli(["-rpccookiefile=/c", "-rpcuser=a", "-rpcpassword=b", "getblockcount"]),
          failed(
            2,
            "svcd-cli: -rpccookiefile: stands in place of -rpcuser; give one of the two\n" +
              "svcd-cli: -rpccookiefile: stands in place of -rpcpassword; give one of the two\n"
          )
        )
      }))
  })

  it.scopedLive("escapes a daemon's output on a terminal, and only there", () =>
    Effect.gen(function*() {
      const evil = method({
        name: "evil",
        group: "Hidden",
        summary: "",
        params: {},
        results: ANY_RESULT,
        examples: [],
        handler: () => Effect.succeed("a\u001b[31m\nb")
      })
      const { port } = yield* testServer({ methods: [evil] })
      const at = ["-rpcaddr", `127.0.0.1:${port}`, "evil"]
      assert.strictEqual((yield* cli(at)).stdout, "a\u001b[31m\nb\n")
      assert.strictEqual((yield* cli(at, { terminal: true })).stdout, "a\\u001b[31m\nb\n")
    }))

  it.scopedLive("runs its own commands, and reports what they lack", () =>
    Effect.gen(function*() {
      const { port } = yield* server
      assert.deepStrictEqual(
        yield* cli([...flags(port), "names"]),
        failed(1, "error: the daemon has no wallet; \"svcd-cli name_scan\" lists all names\n")
      )
      assert.strictEqual((yield* cli([...flags(port), "status"])).code, 89)
      assert.deepStrictEqual(
        yield* cli([...flags(port), "status", "now"]),
        failed(2, "svcd-cli: status: takes no parameter; see svcd-cli status -help\n")
      )
      assert.deepStrictEqual(
        yield* cli([...flags(port), "status", "---rpcpassword=s3cret"]),
        failed(2, "svcd-cli: status: takes no parameter; see svcd-cli status -help\n")
      )
      assert.deepStrictEqual(
        yield* cli([...flags(port), "names", "d/", "id/"]),
        failed(2, "svcd-cli: names: takes one prefix; see svcd-cli names -help\n")
      )
      assert.deepStrictEqual(
        yield* cli([...flags(port), "names", "-expiring=soon"]),
        failed(2, "svcd-cli: -expiring: \"soon\" is not a whole number from 0 to 9999999\n")
      )
      assert.match(
        (yield* cli([...flags(port), "send", "N1", "1"])).stderr,
        /JSON: N1\nTo send coins to an address: svcd-cli pay N1 1\n/
      )
    }))

  it("an error in JSON has escapes for what is unsafe on a terminal, and the same value", () => {
    const message = "a\u009b2J\u202eb\u007f"
    const { stderr } = printed({ code: 1, stdout: "", stderr: "", problem: { code: 1, message } }, true)
    assert.match(stderr, /^[ -~]+\n$/)
    assert.strictEqual(JSON.parse(stderr).error.message, message)
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
      const slow = method({
        name: "getblockcount",
        group: "Blockchain",
        summary: "",
        params: {},
        results: ANY_RESULT,
        examples: [],
        handler: () =>
          Effect.delay(
            Effect.suspend(() => {
              tries++
              return new RpcError({ code: RPC_CODE.warmUp, message: "Loading" })
            }),
            "1050 millis"
          )
      })
      const { port } = yield* testServer({ methods: [slow] })
      const argv = ["-rpcaddr", `127.0.0.1:${port}`, "-rpcwait", "-rpcwaittimeout=1", "getblockcount"]
      const waiting = yield* Effect.fork(cli(argv))
      yield* asleepFor("1050 millis")
      yield* TestClock.adjust("1050 millis")
      assert.strictEqual((yield* Fiber.join(waiting)).code, 28)
      assert.strictEqual(tries, 1)
    }))

  it.effect("prints the script for a shell, and lists the supported shells", () =>
    Effect.gen(function*() {
      assert.match((yield* cli(["--completions", "bash"])).stdout, /complete .* svcd-cli\n$/)
      assert.deepStrictEqual(
        yield* cli(["--completions", "nu"]),
        failed(2, "svcd-cli: -completions: \"nu\" is not one of bash, zsh, fish, sh\n")
      )
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

  it.effect("prints help and version, whatever the configuration", () =>
    Effect.gen(function*() {
      const broken = {
        env: { SVCD_NETWORK: "nowhere", SVCD_DATA_DIR: "/data" },
        files: { "/data/svcd.conf": "no TOML" }
      }
      // No daemon knows the commands of svcd-cli itself.
      assert.include((yield* cli(["help", "status"])).stdout, "Usage: svcd-cli [flags] status")
      assert.include(
        (yield* cli(["register", "-help"], broken)).stdout,
        "Usage: svcd-cli [flags] register NAME [VALUE]"
      )
      for (const flag of ["--help", "-help", "-h"]) {
        const { code, stdout } = yield* cli([flag], broken)
        assert.strictEqual(code, 0)
        assert.match(stdout, /^Usage: svcd-cli /)
      }
      for (const flag of ["--version", "-version"]) {
        assert.deepStrictEqual(yield* cli([flag], broken), { code: 0, stdout: "svcd-cli 1.2.3\n", stderr: "" })
      }
    }))

  it.effect("lists every flag in its help", () =>
    Effect.gen(function*() {
      const { stdout } = yield* cli(["-help"])
      for (
        const flag of [
          "network",
          "datadir",
          "rpcaddr",
          "rpcuser",
          "rpcpassword",
          "rpcwallet",
          "rpcwait",
          "named",
          "stdin",
          "version",
          "help"
        ]
      ) {
        assert.match(stdout, new RegExp(`^  -${flag}\\b`, "m"))
      }
    }))

  it.effect.each<readonly [ReadonlyArray<string>, RegExp]>([
    [[], /^svcd-cli: no method given\n/],
    [["-frobnicate", "1", "getblockcount"], /^svcd-cli: -frobnicate: unknown flag/],
    [["-rpcaddr"], /^svcd-cli: -rpcaddr: needs a value/],
    [["-rpcaddr", "nonsense", "getblockcount"], /rpcaddr.*nonsense/],
    [["-network=moonnet", "getblockcount"], /network.*moonnet.*regtest/],
    [["-rpcuser", "alice", "getblockcount"], /rpcpassword/]
  ])("refuses %j with exit code 2", ([argv, message]) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(argv)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, message)
      assert.isAtMost(stderr.trim().split("\n").length, 6)
    }))
})
