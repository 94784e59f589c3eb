import { EXPIRATION_DEPTH, expirationDepth, expiryHeight } from "../consensus/expiry.ts"
import { readersByChain } from "../consensus/readerParams.ts"
import { addressOf } from "../protocol/address.ts"
import { displayHash, EMPTY, fromHex, toHex } from "../protocol/bytes.ts"
import type { Height, UnixTime } from "../protocol/keys.ts"
import { textOrHex } from "../protocol/nameText.ts"
import { decodedOr } from "../protocol/Reader.ts"
import { clockVerdict } from "./clockRule.ts"
import { unixNow } from "./host.ts"
import { type CheckSignature, linkFault, linksOf, signatureFault } from "./nameLinks.ts"
import { isFailure, type NameProof, parseNameProof, type ProofFailure } from "./nameProof.ts"
import { type ProvenTip, proveTip } from "./provenBlock.ts"
import { type ProvenOperation, proveOperation } from "./provenOperation.ts"

export interface ProofOptions {
  /** The chain that the reader means; `main` by default. A proof of another one fails. */
  readonly network?: NameProof["network"]
  /** A compact target (`0x170e12d3`) that every header must meet, in place of those in the package. */
  readonly floor?: number
  /** Seconds since 1970; the clock of the machine by default. Proofs of the past are checked with a time of the past. */
  readonly now?: UnixTime
  /** Without it, signatures are not checked, and the result is at most `buried`. */
  readonly signatures?: CheckSignature
  /** Blocks with work from the one of the newest operation on, at least; 1 by default. */
  readonly minConfirmations?: number
  /** What happens with a name that expires within 4,032 blocks, which some resolvers do not answer; `warn` by default. */
  readonly semiExpired?: "allow" | "warn" | "refuse"
}

/** What a reader should know of a proof that counts. */
export interface ProofProblem {
  readonly code:
    /** A height, or that of the tip, rests on the word of the server: its block does not say it. */
    | "height-claimed"
    /** By the clock, the name may have expired. */
    | "near-expiry"
    /** The name expires within 4,032 blocks. */
    | "semi-expired"
    /** The proof cannot show the signature of an earlier owner. Said where signatures are checked. */
    | "unsigned-owner"
  /** A whole sentence. */
  readonly message: string
}

/**
 * The value of a name, as a proof shows it.
 *
 * A server can hide a newer operation: ask two, and take the newest valid answer. For a day, it can show a tip from before the
 * expiry. `buried` means that blocks with the
 * work of Namecoin's miners are on top. It does not mean that they are in the chain with the most work: a pool with
 * that work can make false blocks, at the cost of the rewards of Namecoin alone.
 */
export interface VerifiedName {
  /** Wrong UTF-8 becomes U+FFFD; `nameHex` has all bytes. */
  readonly name: string
  readonly nameHex: string
  /** Wrong UTF-8 becomes U+FFFD; `valueHex` has all bytes. */
  readonly value: string
  readonly valueHex: string
  /** The block of the newest operation. */
  readonly height: Height
  /** When its miner says that it was made, in seconds since 1970. */
  readonly time: UnixTime
  /** Displayed order. */
  readonly txid: string
  readonly vout: number
  /** Blocks from the server's tip until the name expires. */
  readonly expiresIn: number
  /** The height of the registration; `undefined` if the proof does not reach it. */
  readonly since: Height | undefined
  /** The address of the owner; the script in hex if it has none. */
  readonly owner: string
  /**
   * `signatures`: in addition, each owner in the proof signed the transfer to the next. The oldest operation in the proof has no such
   * signature: if its block is false, all owners after it are those of its maker.
   */
  readonly proof: "buried" | "signatures"
  /** Blocks with work from that of the newest operation on, as the proof shows them. */
  readonly confirmations: number
  readonly problems: ReadonlyArray<ProofProblem>
}

const PROBLEMS = ["height-claimed", "near-expiry", "semi-expired", "unsigned-owner"] as const satisfies ReadonlyArray<
  ProofProblem["code"]
>

const MESSAGES: Readonly<Record<ProofProblem["code"], string>> = {
  "height-claimed": "A height is the word of the server, as the proof has no coinbase with it.",
  "near-expiry": "By the clock, the name may have expired.",
  "semi-expired": "The name expires soon, and some resolvers have stopped answering it.",
  "unsigned-owner":
    "The proof cannot show the signature of an earlier owner, who has an address of witness version 1 (taproot) or above."
}

/** Blocks before its expiry from which some resolvers do not answer a name, so that its owner notices. */
const SEMI_EXPIRED = 4_032

/** The height of the registration, if the operations reach it. */
const registeredAt = (oldest: ProvenOperation, since: Height | undefined): Height | undefined | ProofFailure => {
  if (oldest.operation.op !== "name_firstupdate") return undefined
  return since === undefined || since === oldest.height
    ? oldest.height
    : { failed: `the name was not registered at height ${since}` }
}

interface Proven {
  readonly proof: NameProof
  readonly tip: ProvenTip
  readonly operations: readonly [ProvenOperation, ...ReadonlyArray<ProvenOperation>]
}

/** The operations, each proven, and each spending the one before. */
const provenOperations = (proof: NameProof, options: ProofOptions): Proven | ProofFailure => {
  const rules = { params: readersByChain[proof.network], floor: options.floor }
  const name = fromHex(proof.name) ?? EMPTY
  const operations: Array<ProvenOperation> = []
  for (const given of proof.operations) {
    if (operations.length > 0 && given.headers.length > 1) {
      return { failed: "only the newest operation has headers after it" }
    }
    const proven = proveOperation(given, name, rules)
    if (isFailure(proven)) return proven
    const next = operations.at(-1)
    const fault = next === undefined ? undefined : linkFault(next, proven, proof.network)
    if (fault !== undefined) return { failed: fault }
    operations.push(proven)
  }
  const [newest, ...earlier] = operations
  if (newest === undefined) return { failed: "the proof has no operation" }
  const tip = proveTip(proof.asOf, rules)
  return isFailure(tip) ? tip : { proof, tip, operations: [newest, ...earlier] }
}

const problemsOf = (codes: Readonly<Record<ProofProblem["code"], boolean>>): ReadonlyArray<ProofProblem> => {
  const found: Array<ProofProblem> = []
  for (const code of PROBLEMS) if (codes[code]) found.push({ code, message: MESSAGES[code] })
  return found
}

interface Lifetime {
  readonly expiresIn: number
  readonly isSemiExpired: boolean
  readonly isNearExpiry: boolean
}

/** How long the name lives, by the tip of the server and by the clock. */
const lifetimeOf = (
  { operations: [newest], proof, tip }: Proven,
  now: UnixTime
): Lifetime | ProofFailure => {
  const params = readersByChain[proof.network]
  const { headers, height } = newest
  if (tip.height < height + headers.length - 1) return { failed: "the tip is below the newest header" }
  const shown = headers[tip.height - height]
  if (shown !== undefined && displayHash(shown.hash) !== proof.asOf.hash) {
    return { failed: "the tip has another hash" }
  }
  const expiresIn = expiryHeight(height, params) - tip.height
  if (expiresIn <= 0) return { failed: `the name expired ${-expiresIn} blocks ago`, code: "expired" }
  const verdict = clockVerdict({
    blocks: headers.map(({ time }, i) => ({ height: height + i, time })),
    tip,
    areHeightsProven: newest.isHeightProven && tip.isHeightProven,
    now
  }, params)
  if ("failed" in verdict) return verdict
  const isSemiExpired = expirationDepth(tip.height, params) === EXPIRATION_DEPTH && expiresIn <= SEMI_EXPIRED
  return { expiresIn, isSemiExpired, isNearExpiry: verdict.isNearExpiry }
}

/**
 * What the signatures say: why they do not count, or whether all could be checked. They come last, as they cost most, and other
 * faults are found without them.
 */
const signaturesOf = (
  { operations, proof }: Proven,
  check: CheckSignature | undefined
): { readonly areKnown: boolean } | ProofFailure => {
  let areKnown = true
  for (const { link, owner } of check === undefined ? [] : linksOf(operations, proof.network)) {
    const found = check && signatureFault(link, owner, check)
    if (found === "unknown") areKnown = false
    else if (found !== undefined) return { failed: found.fault }
  }
  return { areKnown }
}

/**
 * `signatures` speaks of at least one transfer, and of blocks that say their heights, as far as blocks of that age do: the rules for
 * a signature follow the height.
 */
const labelOf = ({ operations, proof }: Proven, areChecked: boolean): VerifiedName["proof"] => {
  const { bip34 } = readersByChain[proof.network].activation
  const areCertain = operations.every(({ height, isHeightProven }) => isHeightProven || height < bip34)
  return areChecked && operations.length > 1 && areCertain ? "signatures" : "buried"
}

const verified = (proven: Proven, options: ProofOptions): VerifiedName | ProofFailure => {
  const { operations, proof, tip } = proven
  const [newest] = operations
  const { minConfirmations = 1, now = unixNow(), semiExpired = "warn", signatures } = options
  const lifetime = lifetimeOf(proven, now)
  if (isFailure(lifetime)) return lifetime
  const { expiresIn, isNearExpiry, isSemiExpired } = lifetime
  if (isSemiExpired && semiExpired === "refuse") return { failed: `the name expires in ${expiresIn} blocks` }
  const confirmations = newest.headers.length
  if (confirmations < minConfirmations) {
    return { failed: `the proof has ${confirmations} of ${minConfirmations} confirmations` }
  }
  const since = registeredAt(operations.at(-1) ?? newest, proof.since)
  if (typeof since === "object") return since
  const signed = signaturesOf(proven, signatures)
  if (isFailure(signed)) return signed
  const name = textOrHex(newest.operation.name)
  const value = textOrHex(newest.operation.value)
  return {
    name: name.text,
    nameHex: toHex(newest.operation.name),
    value: value.text,
    valueHex: toHex(newest.operation.value),
    height: newest.height,
    time: newest.headers[0]?.time ?? 0,
    txid: displayHash(newest.transaction.txid),
    vout: newest.vout,
    expiresIn,
    since,
    owner: addressOf(readersByChain[proof.network].network, newest.address) ?? toHex(newest.address),
    proof: labelOf(proven, signatures !== undefined && signed.areKnown),
    confirmations,
    problems: problemsOf({
      "height-claimed": [tip, ...operations].some(({ isHeightProven }) => !isHeightProven),
      "near-expiry": isNearExpiry,
      "semi-expired": isSemiExpired && semiExpired === "warn",
      "unsigned-owner": !signed.areKnown
    })
  }
}

/** Comparisons with NaN are false, so that such a number would switch off the rule that it is for. */
const optionFault = ({ floor = 0, minConfirmations = 1, now = 0 }: ProofOptions): string | undefined => {
  if (!Number.isFinite(now)) return "the option now is not a number"
  for (const [option, value] of Object.entries({ floor, minConfirmations })) {
    if (!Number.isSafeInteger(value) || value < 0) return `the option ${option} is not a whole number`
  }
  return undefined
}

/**
 * Checks a proof of the value of a name without a chain: the work of its headers, the transaction in the block, the name in
 * its output, and the age by the clock. Takes JSON or its value, of any origin.
 */
export const verifyNameProof = (proof: unknown, options: ProofOptions = {}): VerifiedName | ProofFailure => {
  const parsed = parseNameProof(proof)
  if (isFailure(parsed)) return parsed
  const fault = optionFault(options)
  if (fault !== undefined) return { failed: fault }
  const { network = "main" } = options
  if (parsed.network !== network) return { failed: `the proof is about ${parsed.network}, not ${network}` }
  return decodedOr((): VerifiedName | ProofFailure => {
    const proven = provenOperations(parsed, options)
    return isFailure(proven) ? proven : verified(proven, options)
  }, ({ message }) => ({ failed: message }))
}
