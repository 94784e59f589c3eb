import * as Effect from "effect/Effect"
import { open } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { MISSING_FILE } from "../../base/errorCode.ts"
import { readGiven } from "../../base/givenFile.ts"
import { shownPath } from "../../base/safeText.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import { decodePsbt } from "../../protocol/psbt/decode.ts"
import { encodePsbt } from "../../protocol/psbt/encode.ts"
import { PSBT_MAGIC } from "../../protocol/psbt/fields.ts"
import type { Psbt } from "../../protocol/psbt/Psbt.ts"
import { runSteps } from "../../protocol/steps.ts"
import type { StorageUnavailable } from "../../storage/errors.ts"
import { io } from "../../storage/io.ts"
import { InvalidWalletRequest } from "../../wallet/errors.ts"
import { isSignature, parsePsbtSteps, psbtText } from "../../wallet/signing/psbtText.ts"

/** Files of PSBTs, in base64 or binary, or with the answer of a method. */

/** Bytes: twice what a whole block has. */
const MOST_BYTES = 16_000_000

/** More than a standard transaction can have, and few enough for the hashes of the old signatures. */
const MOST_INPUTS = 1_000
const MOST_OUTPUTS = 4_000

/** How every PSBT in base64 begins. */
const BASE64_MAGIC = Buffer.from(PSBT_MAGIC).toString("base64").slice(0, 6)

/** Standard input. */
export const STDIN = "-"

export interface GivenPsbt {
  readonly psbt: Psbt
  readonly form: "base64" | "binary"
}

const tooLarge = (): Error => Object.assign(new Error("ETOOLARGE"), { code: "ETOOLARGE" })

const readStream = async (stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  let length = 0
  for await (const piece of stream) {
    length += piece.length
    if (length > MOST_BYTES) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const refusedFile = (file: string) => (problem: string): InvalidWalletRequest =>
  new InvalidWalletRequest({ code: "not-eligible", reason: `${shownPath(file)} cannot be read as a PSBT: ${problem}` })

const psbtOf = (value: unknown): ReadonlyArray<string> =>
  typeof value === "object" && value !== null && "psbt" in value && typeof value.psbt === "string" ? [value.psbt] : []

/** The answer of a method may be the file as it is: nobody has to cut the PSBT out of it. */
const psbtsIn = (text: string): ReadonlyArray<string> => {
  if (!/^[[{]/.test(text)) return []
  try {
    const answer: unknown = JSON.parse(text)
    return Array.isArray(answer) ? answer.flatMap(psbtOf) : psbtOf(answer)
  } catch {
    return []
  }
}

const decoded = (bytes: Bytes): { readonly error: string } | GivenPsbt => {
  if (equal(bytes.subarray(0, PSBT_MAGIC.length), PSBT_MAGIC)) {
    const found = decodePsbt(bytes, { isSignature })
    return "error" in found ? found : { ...found, form: "binary" }
  }
  const text = Buffer.from(bytes).toString("latin1").trim()
  const [answered = text, ...more] = psbtsIn(text)
  if (more.length > 0) {
    return { error: `it is an answer with ${more.length + 1} PSBTs: put each into a file of its own` }
  }
  // The decoder's own words, which RPC has from upstream, would say nothing about another file.
  if (!answered.startsWith(BASE64_MAGIC)) return { error: "it has none, in base64 or binary" }
  const found = runSteps(parsePsbtSteps(answered))
  return "error" in found ? found : { ...found, form: "base64" }
}

export const readPsbt = (
  file: string,
  stdin: () => AsyncIterable<Uint8Array>
): Effect.Effect<GivenPsbt, InvalidWalletRequest | StorageUnavailable> =>
  Effect.gen(function*() {
    const bytes = yield* io(
      { file: file === STDIN ? "standard input" : shownPath(file), doing: "reading" },
      () => file === STDIN ? readStream(stdin()) : readGiven(file, MOST_BYTES),
      MISSING_FILE
    )
    const found = decoded(bytes)
    if ("error" in found) return yield* refusedFile(file)(found.error)
    const { inputs, outputs } = found.psbt.transaction
    return inputs.length > MOST_INPUTS || outputs.length > MOST_OUTPUTS
      ? yield* refusedFile(file)(`it has more than ${MOST_INPUTS} inputs or ${MOST_OUTPUTS} outputs`)
      : found
  })

/** `renewal.signed.psbt` for `renewal.psbt`. */
export const signedName = (file: string): string =>
  join(dirname(file), `${basename(file).replace(/\.psbt$/i, "")}.signed.psbt`)

export const psbtContent = ({ form, psbt }: GivenPsbt): string | Bytes =>
  form === "binary" ? encodePsbt(psbt) : `${psbtText(psbt)}\n`

/** Never onto another file. */
export const writePsbt = (file: string, given: GivenPsbt): Effect.Effect<void, StorageUnavailable> =>
  io(
    { file: shownPath(file), doing: "writing" },
    async () => {
      const handle = await open(file, "wx", 0o600)
      try {
        await handle.writeFile(psbtContent(given))
        await handle.sync()
      } finally {
        await handle.close()
      }
    },
    new Map([
      ["EEXIST", "there is already such a file; give another one with -out"],
      ["ENOENT", "there is no such directory"]
    ])
  )
