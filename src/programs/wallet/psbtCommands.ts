import * as Effect from "effect/Effect"
import { shownPath } from "../../base/safeText.ts"
import { runSteps } from "../../protocol/steps.ts"
import { InvalidWalletRequest } from "../../wallet/errors.ts"
import { KeyRing } from "../../wallet/keys/KeyRing.ts"
import { psbtRenewalProblem, signingProblem } from "../../wallet/signing/psbtRenewal.ts"
import { type PsbtReview, type ReviewKeys, reviewPsbt } from "../../wallet/signing/psbtReview.ts"
import { reviewLines } from "../../wallet/signing/psbtReviewText.ts"
import { signPsbtSteps } from "../../wallet/signing/signPsbt.ts"
import { type CommandContext, type GivenSecret, openedForReading, unlocked, wrong } from "./access.ts"
import type { Said } from "./commands.ts"
import { psbtContent, readPsbt, signedName, STDIN, writePsbt } from "./psbtFile.ts"

/** Shows and signs PSBTs without a node and without a chain, so that keys can stay on a machine without a network. */

export interface PsbtContext extends CommandContext {
  readonly stdin: () => AsyncIterable<Uint8Array>
}

const opened = (context: PsbtContext, path: string) =>
  Effect.gen(function*() {
    const given = yield* readPsbt(path, context.stdin)
    const { file } = yield* openedForReading(context)
    const ring = yield* KeyRing.make(file.document)
    const keys: ReviewKeys = {
      network: ring.network,
      own: (script) => ring.own(script),
      knowledge: ring.signer(undefined)
    }
    return { given, file, ring, keys, review: reviewPsbt(given.psbt, keys) }
  })

export const showPsbt = (context: PsbtContext, { file }: { readonly file: string }) =>
  Effect.map(opened(context, file), ({ review }): Said => ({ result: reviewLines(review), remarks: [] }))

const refused = (reason: string): InvalidWalletRequest => new InvalidWalletRequest({ code: "not-eligible", reason })

const confirmed = ({ prompt }: CommandContext, shown: string) =>
  Effect.gen(function*() {
    if (prompt.terminal === undefined) {
      return yield* wrong(
        "--yes is missing: without a terminal, nobody can confirm the signature; see also --renewals-only"
      )
    }
    const answer = yield* prompt.line(`${shown}\n\nType yes to sign this: `)
    if (answer?.trim().toLowerCase() !== "yes") return yield* refused("nothing was signed")
  })

const signaturesIn = ({ inputs }: PsbtReview): number => inputs.reduce((sum, { signed }) => sum + signed.have, 0)

const missingText = ({ inputs }: PsbtReview): string | undefined => {
  const open = inputs.find(({ signed }) => signed.state !== "complete")
  if (open === undefined) return undefined
  const { have, need } = open.signed
  return `Input ${open.index} has ${have} of ${need} signatures: the PSBT needs another signer before it can be sent.`
}

export interface Signing {
  readonly file: string
  readonly out: string | undefined
  readonly yes: boolean
  readonly "renewals-only": boolean
  /** Smallest units. */
  readonly "max-fee": number
  readonly password: GivenSecret
}

export const signPsbtFile = (context: PsbtContext, flags: Signing) =>
  Effect.gen(function*() {
    const { file: path, out, password, yes } = flags
    const { file, given, keys, review, ring } = yield* opened(context, path)
    const never = signingProblem(review)
    if (never !== undefined) return yield* refused(`not signed: ${never}`)
    const shown = reviewLines(review)
    if (flags["renewals-only"]) {
      const rules = { isOwn: (script: Uint8Array) => ring.own(script) !== undefined, maxFee: flags["max-fee"] }
      const problem = psbtRenewalProblem(given.psbt, review, rules)
      if (problem !== undefined) return yield* refused(`not signed, because it is not only a renewal: ${problem}`)
    } else if (!yes) {
      yield* confirmed(context, shown.join("\n"))
    }
    const secrets = yield* unlocked(context, file, password)
    const { psbt } = runSteps(signPsbtSteps(given.psbt, ring.signer(secrets), { finalize: false }))
    const after = reviewPsbt(psbt, keys)
    if (signaturesIn(after) === signaturesIn(review)) {
      return yield* refused("not signed: the wallet lacks the private keys of its inputs")
    }
    const missing = missingText(after)
    const said = yes || flags["renewals-only"] ? shown : []
    const lacking = missing === undefined ? [] : [missing]
    const signed = { psbt, form: given.form }
    if (out === undefined && path === STDIN) {
      return { result: [String(psbtContent({ psbt, form: "base64" })).trimEnd()], remarks: [...said, ...lacking] }
    }
    const target = out ?? signedName(path)
    yield* writePsbt(target, signed)
    return { result: [...said, `Signed: ${shownPath(target)}`], remarks: lacking }
  })
