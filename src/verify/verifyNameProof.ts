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
  /** The expected network; `main` by default. Proofs for other networks fail. */
  readonly network?: NameProof["network"]
  /** A compact target (`0x170e12d3`) that every header must meet. Replaces the built-in floors. */
  readonly floor?: number
  /** Seconds since 1970; the machine's clock by default. To check an old proof, pass the time of its creation. */
  readonly now?: UnixTime
  /** Without it, signatures are not checked, and the result is at most `buried`. */
  readonly signatures?: CheckSignature
  /** Minimum confirmations of the newest operation; 1 by default. */
  readonly minConfirmations?: number
  /**
   * The treatment of a name that expires within 4,032 blocks, which some resolvers no longer answer; `warn` by default.
   */
  readonly semiExpired?: "allow" | "warn" | "refuse"
}

/** A caveat about a valid proof. */
export interface ProofProblem {
  readonly code:
    /** The height of an operation or of the tip is unproven. Only the server claims it. */
    | "height-claimed"
    /** By the clock, the name may have expired. */
    | "near-expiry"
    /** The name expires within 4,032 blocks. */
    | "semi-expired"
    /** The signature of an earlier owner cannot be verified. Only reported if signatures are checked. */
    | "unsigned-owner"
  /** A whole sentence. */
  readonly message: string
}

/**
 * The proven value of a name.
 *
 * A server can hide a newer operation. Ask two servers, and take the newest valid answer. It can also present a tip up
 * to a day old, from before the name expired. `buried` means that blocks with the work of Namecoin's miners are on top.
 * It does not mean that they are in the chain with the most work. A pool with that work can forge blocks, and loses
 * only its Namecoin rewards.
 */
export interface VerifiedName {
  /** U+FFFD replaces invalid UTF-8; `nameHex` has the original bytes. */
  readonly name: string
  readonly nameHex: string
  /** U+FFFD replaces invalid UTF-8; `valueHex` has the original bytes. */
  readonly value: string
  readonly valueHex: string
  /** The block of the newest operation. */
  readonly height: Height
  /** The miner's timestamp of the block, in seconds since 1970. */
  readonly time: UnixTime
  /** In display order, as JSON-RPC shows it. */
  readonly txid: string
  readonly vout: number
  /** Blocks from the server's tip until the name expires. */
  readonly expiresIn: number
  /** The height of the registration; `undefined` if the proof does not go back that far. */
  readonly since: Height | undefined
  /** The owner's address, or the script in hex if it has no address. */
  readonly owner: string
  /**
   * `signatures` means in addition that each owner in the proof signed the transfer to the next. The oldest operation
   * has no such signature: whoever forges that block chooses all later owners.
   */
  readonly proof: "buried" | "signatures"
  /** Confirmations of the newest operation in the proof, including its own block. */
  readonly confirmations: number
  readonly problems: ReadonlyArray<ProofProblem>
}

const PROBLEMS = ["height-claimed", "near-expiry", "semi-expired", "unsigned-owner"] as const satisfies ReadonlyArray<
  ProofProblem["code"]
>

const MESSAGES: Readonly<Record<ProofProblem["code"], string>> = {
  "height-claimed": "The server claims a height that no coinbase in the proof confirms.",
  "near-expiry": "By the clock, the name may have expired.",
  "semi-expired": "The name expires soon, and some resolvers have stopped answering it.",
  "unsigned-owner":
    "The signature of an earlier owner cannot be verified, because the owner's address has witness version 1 (taproot) " +
    "or above."
}

/** Some resolvers stop answering a name this many blocks before its expiry, so that its owner notices. */
const SEMI_EXPIRED = 4_032

/** The height of the registration, if the operations go back that far. */
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

/** Proves each operation, and that each spends the one before. */
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

/** The remaining life of the name, by the server's tip and by the clock. */
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

/** Checks the signatures. Returns a failure, or whether all could be checked. Runs last, because it costs most. */
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
 * `signatures` requires at least two operations and proven heights, because signature rules depend on the height.
 * Blocks before BIP 34 cannot prove theirs and are exempt.
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
    return { failed: `the proof has ${confirmations} of ${minConfirmations} confirmations`, code: "confirmations" }
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

/** Comparisons with NaN are false, so NaN would disable the check. */
const optionFault = ({ floor = 0, minConfirmations = 1, now = 0 }: ProofOptions): string | undefined => {
  if (!Number.isFinite(now)) return "the option now is not a number"
  for (const [option, value] of Object.entries({ floor, minConfirmations })) {
    if (!Number.isSafeInteger(value) || value < 0) return `the option ${option} is not a whole number`
  }
  return undefined
}

/**
 * Checks a proof of a name's value without a chain: the work of its headers, the transaction in the block, the name in
 * its output, and the age by the clock. Takes untrusted JSON, as text or parsed.
 */
export const verifyNameProof = (proof: unknown, options: ProofOptions = {}): VerifiedName | ProofFailure => {
  const parsed = parseNameProof(proof)
  if (isFailure(parsed)) return parsed
  const fault = optionFault(options)
  if (fault !== undefined) return { failed: fault }
  const { network = "main" } = options
  if (parsed.network !== network) {
    return { failed: `the proof is about ${parsed.network}, not ${network}`, code: "network" }
  }
  return decodedOr((): VerifiedName | ProofFailure => {
    const proven = provenOperations(parsed, options)
    return isFailure(proven) ? proven : verified(proven, options)
  }, ({ message }) => ({ failed: message }))
}
