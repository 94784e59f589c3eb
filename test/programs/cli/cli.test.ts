import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { printed } from "../../../src/programs/cli/outcome.ts"
import type { JsonValue } from "../../../src/rpc/json/encodeJson.ts"
import * as Param from "../../../src/rpc/method/params.ts"
import { RpcError } from "../../../src/rpc/method/RpcError.ts"
import { fakeMethod } from "../../support/fakeMethod.ts"
import { GENESIS, testServer } from "../../support/rpcServer.ts"
import { cli, CREDENTIALS, failed, flags, server } from "./cliRun.ts"

describe("svcd-cli", () => {
  it.effect("ends with a sentence and status 1 where it has an error itself", () =>
    Effect.gen(function*() {
      // Standard input that is not given is an error of the program in these tests.
      assert.deepStrictEqual(
        yield* cli(["-stdin", "getinfo"]),
        failed(1, "error: internal error, please report it\n")
      )
    }))

  it.scopedLive("draws on a terminal how far a search of the chain is, and its result alone behind it", () =>
    Effect.gen(function*() {
      const over = yield* Effect.makeLatch()
      let asked = 0
      const answering = (name: string, answer: Effect.Effect<JsonValue>) =>
        fakeMethod({ name, params: {} }, () => answer)
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
      assert.match(drawn[0] ?? "", /^\r\u001b\[2K\[#+\.+\] scanning the chain for the wallet's keys: 50 % done$/)
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

  it.scopedLive("repeats no recovery words and no private key in any error, nor in the answer of help", () =>
    Effect.gen(function*() {
      const refusing = (name: string) =>
        fakeMethod(
          { name, params: { txid: Param.string("") } },
          ({ txid }) => RpcError.invalidParameter(`txid must be of length 64 (not ${txid.length}, for '${txid}')`)
        )
      const { port } = yield* testServer({
        credentials: CREDENTIALS,
        methods: [refusing("getblock"), refusing("gettransaction")]
      })
      const phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow"
      const key = "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ"
      for (const secret of [phrase, key]) {
        for (
          const words of [
            ["-rpcaddr", secret, "status"],
            ["-rpcaddr", ...secret.split(" ")],
            ["-network", secret, "status"],
            [`-${secret}`],
            [`-rpccookiefile=${secret}`, "status"],
            [...flags(port), "getblock", secret],
            [...flags(port), "tx", secret],
            [...flags(port), "help", secret]
          ]
        ) {
          for (const form of [words, ["-json", ...words]]) {
            const { stderr, stdout } = yield* cli(form)
            assert.match(`${stdout}${stderr}`, /\(not shown: /, form.join(" "))
            assert.notMatch(`${stdout}${stderr}`, /winner|legal|L1aW/, form.join(" "))
          }
        }
      }
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

  it.scopedLive("escapes a daemon's output on a terminal and in a pipe", () =>
    Effect.gen(function*() {
      const evil = fakeMethod({ name: "evil", params: {} }, () => Effect.succeed("a\u001b[31m\nb"))
      const { port } = yield* testServer({ methods: [evil] })
      const at = ["-rpcaddr", `127.0.0.1:${port}`, "evil"]
      assert.strictEqual((yield* cli(at)).stdout, "a\\u001b[31m\nb\n")
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

  it.effect("prints the script for a shell, and lists the supported shells", () =>
    Effect.gen(function*() {
      assert.match((yield* cli(["--completions", "bash"])).stdout, /complete .* svcd-cli\n$/)
      assert.deepStrictEqual(
        yield* cli(["--completions", "nu"]),
        failed(2, "svcd-cli: -completions: \"nu\" is not one of bash, zsh, fish, sh\n")
      )
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
