import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Redacted } from "effect"
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Readable } from "node:stream"
import type { Prompt } from "../../../src/programs/tool/prompt.ts"
import { run } from "../../../src/programs/wallet/program.ts"
import { decodePsbt } from "../../../src/protocol/psbt/decode.ts"
import { encodePsbt } from "../../../src/protocol/psbt/encode.ts"
import type { Psbt } from "../../../src/protocol/psbt/Psbt.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import { encryption } from "../../../src/wallet/keys/makeDocument.ts"
import { encodeDocument } from "../../../src/wallet/keys/WalletDocument.ts"
import { isSignature, parsePsbtSteps, psbtText } from "../../../src/wallet/signing/psbtText.ts"
import { finalizePsbtSteps } from "../../../src/wallet/signing/signPsbt.ts"
import { inputOf } from "../../config/input.ts"
import { withCheapScrypt } from "../../support/cheapScrypt.ts"
import { attackBytes, ATTACKS } from "../../support/renewalAttacks.ts"
import { coldDocument, coldRing, NAME, renewalOf, update } from "../../support/renewalPsbts.ts"
import { withDirectoryAsync } from "../../support/temporary.ts"

/** svcd-wallet show and sign, on a machine that has wallet.json and nothing else. */

const PASSPHRASE = "a long passphrase"

const NO_TERMINAL: Prompt = { secret: () => Effect.succeed(undefined), line: () => Effect.succeed(undefined) }

/** A terminal at which the user types these answers, and what it has shown. */
const typing = (...answers: Array<string>) => {
  const shown: Array<string> = []
  const next = (question: string) =>
    Effect.sync(() => {
      shown.push(question)
      return answers.shift()
    })
  return { shown, prompt: { secret: next, line: next, terminal: { hasResults: true } } satisfies Prompt }
}

interface Machine {
  readonly folder: string
  readonly put: (name: string, content: string | Uint8Array) => string
  readonly call: (
    argv: ReadonlyArray<string>,
    options?: { readonly prompt?: Prompt; readonly stdin?: string }
  ) => Effect.Effect<Effect.Effect.Success<ReturnType<typeof run>>>
}

const onMachine = <E>(work: (machine: Machine) => Effect.Effect<void, E>, encrypted = false) =>
  Effect.promise(() =>
    withDirectoryAsync((folder) =>
      Effect.runPromise(
        Effect.gen(function*() {
          const dataDir = join(folder, "node")
          mkdirSync(dataDir, { mode: 0o700 })
          const document = yield* coldDocument
          const kept = encrypted
            ? (yield* encryption(document, Redacted.make(PASSPHRASE)))(document)
            : document
          writeFileSync(join(dataDir, "wallet.json"), encodeDocument(kept), { mode: 0o600 })
          const env = { SVCD_NETWORK: "regtest", SVCD_DATA_DIR: dataDir }
          yield* work({
            folder,
            put: (name, content) => {
              writeFileSync(join(folder, name), content)
              return join(folder, name)
            },
            call: (argv, { prompt = NO_TERMINAL, stdin = "" } = {}) =>
              withCheapScrypt(run({
                ...inputOf(argv, { env }),
                version: "9.9.9",
                prompt,
                stdin: () => Readable.from([Buffer.from(stdin)])
              }))
          })
        }).pipe(Effect.scoped, withCheapScrypt)
      )
    )
  )

const read = (text: string): Psbt => {
  const found = runSteps(parsePsbtSteps(text.trim()))
  return "error" in found ? assert.fail(found.error) : found.psbt
}

const isComplete = (psbt: Psbt): boolean => runSteps(finalizePsbtSteps(psbt)).complete

describe("svcd-wallet show", () => {
  it.effect("says in words what a PSBT does, from a file in either form and from standard input", () =>
    onMachine(({ call, put }) =>
      Effect.gen(function*() {
        const { psbt, scripts } = renewalOf(yield* coldRing, "bech32")
        assert.lengthOf(scripts, 3)
        const text = psbtText(psbt)
        const asked = [
          call(["show", put("a.psbt", `${text}\n`)]),
          call(["show", put("b.psbt", encodePsbt(psbt))]),
          call(["show", "-"], { stdin: text }),
          call(["show", "-"], { stdin: JSON.stringify({ psbt: text, fee: 1 }, undefined, 2) }),
          call(["show", "-"], { stdin: JSON.stringify([{ state: "done" }, { psbt: text }]) })
        ]
        for (const outcome of yield* Effect.all(asked)) {
          assert.strictEqual(outcome.stderr, "")
          assert.strictEqual(outcome.code, 0)
          assert.match(
            outcome.stdout,
            /^Renews d\/cold\n {2}Value {7}\{"ip":"192\.0\.2\.1"\} {2}\(unchanged\)\n {2}Owner {7}this wallet, ncrt1\w+\n/
          )
          assert.match(outcome.stdout, /\n {2}Fee {9}0\.0004 NMC\n {2}Valid {7}in blocks after 200\n/)
          assert.notInclude(outcome.stdout, "WARNING")
        }
      })
    ))

  it.effect("shouts where coins or the name leave", () =>
    onMachine(({ call, put }) =>
      Effect.gen(function*() {
        const renewal = renewalOf(yield* coldRing, "bech32")
        for (
          const [what, words] of [
            ["a hidden output", /PAYS +0\.001 NMC TO ANOTHER OWNER: ncrt1/],
            ["the name is for another owner", /^GIVES AWAY d\/cold\n[^]*NEW OWNER +ANOTHER OWNER, ncrt1/],
            ["no output keeps the name", /^GIVES UP A NAME\n/],
            ["a coin of another owner", /OF ANOTHER OWNER/]
          ] as const
        ) {
          const attack = ATTACKS.find((each) => each.what === what) ?? assert.fail(what)
          const { code, stdout } = yield* call(["show", put("x.psbt", attackBytes(attack, renewal))])
          assert.strictEqual(code, 0)
          assert.match(stdout, words)
          assert.include(stdout, "\nWARNING: ")
        }
      })
    ))

  it.effect("reads no other files", () =>
    onMachine(({ call, folder, put }) =>
      Effect.gen(function*() {
        symlinkSync("/dev/zero", join(folder, "endless"))
        for (
          const [file, words] of [
            [join(folder, "none"), /there is no such file/],
            [folder, /it is a directory/],
            [join(folder, "endless"), /it is not a regular file/],
            [put("large", Buffer.alloc(16_000_001, 65)), /it is too large/],
            [put("empty", ""), /cannot be read as a PSBT/],
            [put("two", JSON.stringify([{ psbt: "a" }, { psbt: "b" }])), /an answer with 2 PSBTs/],
            [put("open", "{\"psbt\":"), /cannot be read as a PSBT/],
            [put("text", "no base64!"), /cannot be read as a PSBT: it has none, in base64 or binary/]
          ] as const
        ) {
          const { code, stderr, stdout } = yield* call(["show", file])
          assert.deepStrictEqual([code, stdout], [1, ""], stderr)
          assert.match(stderr, words)
        }
      })
    ))
})

describe("svcd-wallet sign", () => {
  it.effect("shows, asks, asks for the passphrase, and writes a new file", () =>
    onMachine(({ call, folder, put }) =>
      Effect.gen(function*() {
        const { psbt } = renewalOf(yield* coldRing, "legacy")
        const file = put("renewal.psbt", psbtText(psbt))
        const no = typing("no")
        const left = yield* call(["sign", file], { prompt: no.prompt })
        assert.deepStrictEqual([left.code, left.stdout], [1, ""])
        assert.match(left.stderr, /nothing was signed/)
        const wrong = yield* call(["sign", file], { prompt: typing("yes", "wrong", "wrong", "wrong", "wrong").prompt })
        assert.match(wrong.stderr, /the passphrase is wrong/)
        const { prompt, shown } = typing("yes", PASSPHRASE)
        const signed = yield* call(["sign", file], { prompt })
        assert.strictEqual(signed.stdout, `Signed: ${join(folder, "renewal.signed.psbt")}\n`, signed.stderr)
        assert.match(shown[0] ?? "", /^Renews d\/cold\n[^]*\n\nType yes to sign this: $/)
        assert.strictEqual(shown[1], "Type the passphrase of the wallet: ")
        const result = readFileSync(join(folder, "renewal.signed.psbt"), "utf8")
        assert.isTrue(isComplete(read(result)))
        const { stdout } = yield* call(["show", join(folder, "renewal.signed.psbt")])
        assert.match(stdout, /Input 0 +the name d\/cold, of this wallet: signed, 1 of 1 signatures/)
        // Never onto a file.
        const again = yield* call(["sign", file], { prompt: typing("yes", PASSPHRASE).prompt })
        assert.match(again.stderr, /there is already such a file; give another one with -out/)
        assert.strictEqual(readFileSync(join(folder, "renewal.signed.psbt"), "utf8"), result)
      }), true))

  it.effect("names the flag that it needs without a terminal, and keeps the form of the file", () =>
    onMachine(({ call, folder, put }) =>
      Effect.gen(function*() {
        const { psbt } = renewalOf(yield* coldRing, "p2sh-segwit")
        const file = put("binary", encodePsbt(psbt))
        const without = yield* call(["sign", file])
        assert.strictEqual(without.code, 2)
        assert.match(without.stderr, /--yes is missing/)
        const out = join(folder, "out.psbt")
        const { code, stderr, stdout } = yield* call(["sign", file, "-yes", "-out", out])
        assert.strictEqual(code, 0, stderr)
        assert.match(stdout, /^Renews d\/cold\n/)
        assert.isTrue(stdout.endsWith(`\nSigned: ${out}\n`))
        const found = decodePsbt(readFileSync(out), { isSignature })
        assert.isTrue("psbt" in found && isComplete(found.psbt))
        const piped = yield* call(["sign", "-", "-yes"], { stdin: psbtText(psbt) })
        assert.isTrue(isComplete(read(piped.stdout)))
      })
    ))

  it.effect("counts the signatures of several owners", () =>
    onMachine(({ call, put }) =>
      Effect.gen(function*() {
        const { psbt } = renewalOf(yield* coldRing, "2-of-3")
        const { stderr, stdout } = yield* call(["sign", "-", "-yes"], { stdin: psbtText(psbt) })
        assert.match(stderr, /Owner +this wallet, ncrt1\w+ \(2 of 3 keys\)/)
        assert.match(stderr, /Input 0 has 1 of 2 signatures: the PSBT needs another signer before it can be sent\./)
        const partly = read(stdout)
        assert.isFalse(isComplete(partly))
        const shown = yield* call(["show", put("partly", stdout)])
        assert.match(shown.stdout, /the name d\/cold, of this wallet, 2 of 3 keys: 1 of 2 signatures/)
        const again = yield* call(["sign", "-", "-yes"], { stdin: stdout })
        assert.match(again.stderr, /lacks the private keys of its inputs/)
      })
    ))

  it.effect("with -renewals-only signs renewals without a question, and says why not others", () =>
    onMachine(({ call, folder, put }) =>
      Effect.gen(function*() {
        const ring = yield* coldRing
        const renewal = renewalOf(ring, "bech32")
        const signed = yield* call(["sign", put("r.psbt", psbtText(renewal.psbt)), "-renewals-only"])
        assert.strictEqual(signed.code, 0, signed.stderr)
        assert.isTrue(isComplete(read(readFileSync(join(folder, "r.signed.psbt"), "utf8"))))
        const costly = yield* call(["sign", "-", "-renewals-only", "-max-fee", "0.0003"], {
          stdin: psbtText(renewal.psbt)
        })
        assert.strictEqual(costly.code, 1)
        assert.match(costly.stderr, /not signed, because it is not only a renewal: its fee is too high/)
        const change = renewalOf(ring, "bech32", { before: update(NAME, "{}") })
        const changed = yield* call(["sign", "-", "-renewals-only"], { stdin: psbtText(change.psbt) })
        assert.match(changed.stderr, /it changes the value/)
        // Each command derives the keys of the wallet; psbtReview.test.ts has all attacks.
        for (const attack of ATTACKS.filter((_, n) => n % 6 === 0)) {
          const file = put("attack.psbt", attackBytes(attack, renewal))
          const { code, stderr, stdout } = yield* call(["sign", file, "-renewals-only"])
          assert.deepStrictEqual([code, stdout], [1, ""], attack.what)
          assert.match(stderr, /^svcd-wallet: .{20,}/, attack.what)
          assert.isFalse(existsSync(join(folder, "attack.signed.psbt")))
          if (attack.said !== "hash-type") continue
          const asked = yield* call(["sign", file, "-yes"])
          assert.match(asked.stderr, /only ALL is signed/)
        }
      })
    ))
})
