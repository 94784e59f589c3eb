import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { toHex } from "../../src/protocol/bytes.ts"
import { run, startNode, wholeDirectory } from "../support/daemon.ts"
import { text } from "../support/regtest.ts"

const NAME = "d/kelp38c6"

describe("svcd-cli proof and verify-proof", () => {
  it.scopedLive("prove a name with a node, and verify the file after the node has ended", () =>
    Effect.gen(function*() {
      const directory = yield* wholeDirectory
      const file = join(directory, "kelp.proof.json")
      const node = yield* startNode(directory)
      yield* node.ready
      const cli = (...args: ReadonlyArray<string>) =>
        run("svcd-cli", "-network", "regtest", "-datadir", directory, "-rpcaddr", `127.0.0.1:${node.port}`, ...args)
      const verify = (...args: ReadonlyArray<string>) => run("svcd-cli", "-network", "regtest", "verify-proof", ...args)

      const made = yield* cli("proof", NAME, "-chain", "-out", file)
      assert.match(made.stdout, /kelp\.proof\.json: [\d,]+ bytes, \d+ operations?, 7 headers\n$/, made.stderr)
      assert.strictEqual((yield* cli("proof", NAME, "-chain", "--json")).stdout, readFileSync(file, "utf8"))

      const missing = yield* cli("proof", "d/nobody-has-this")
      assert.deepInclude(missing, {
        code: 1,
        stdout: "",
        stderr: "error: d/nobody-has-this does not exist, and that cannot be proven\n" +
          "A proof can only show a name with a record.\n"
      })
      const { code, stderr, stdout } = yield* cli("proof", "d/nobody-has-this", "-json")
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.deepStrictEqual(JSON.parse(stderr), {
        error: {
          code: 1,
          message: "d/nobody-has-this does not exist, and that cannot be proven",
          remedy: "A proof can only show a name with a record."
        }
      })

      yield* node.running.end()
      const shown = yield* verify(file)
      assert.deepInclude(shown, { code: 0, stderr: "" })
      assert.match(shown.stdout, /^Name {6}d\/kelp38c6\nValue [^]*\nProof {5}(buried|signatures): /)
      const told = JSON.parse((yield* verify(file, "--json")).stdout)
      assert.deepInclude(told, { valid: true, name: NAME, confirmations: 7, problems: [] })

      const proof = readFileSync(file, "utf8")
      const write = (damaged: string) => Effect.sync(() => writeFileSync(file, damaged))
      yield* write(proof.slice(0, proof.length / 2))
      const cut = yield* verify(file)
      assert.deepInclude(cut, {
        code: 1,
        stdout: "",
        stderr: "error: the proof is not valid: the proof is not JSON\n" +
          "The file is damaged or not a proof. Copy it again, or make a new one.\n"
      })
      yield* write(proof.replace(toHex(text(NAME)), toHex(text("d/kelp38c7"))))
      const other = yield* verify(file, "-json")
      assert.deepInclude(other, { code: 1, stderr: "" })
      assert.match(JSON.parse(other.stdout).failed, /^output \d+ has another name$/)
      const gone = yield* verify(`${file}.gone`)
      assert.deepInclude(gone, { code: 1, stdout: "" })
      assert.match(gone.stderr, /cannot be read: .*\nTo make a proof: "svcd-cli proof NAME -out FILE"\.\n$/)
    }))
})
