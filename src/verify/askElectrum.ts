import { type Bytes, displayHash, EMPTY, fromHex, toHex } from "../protocol/bytes.ts"
import { Header, HEADER_SIZE } from "../protocol/header.ts"
import type { Height } from "../protocol/keys.ts"
import { nameIndexHash, parseNameScript } from "../protocol/nameOperation.ts"
import { DecodeError } from "../protocol/Reader.ts"
import { decodeTransaction } from "../protocol/transaction.ts"
import { ElectrumFailure, type ElectrumLimits, type ElectrumSession, openElectrum } from "./electrumSession.ts"
import { NAME_PROOF, type NameProof, type NameProofOperation, type ProofTip } from "./nameProof.ts"

/** The script hash of a name, as Electrum clients write it. */
export const nameScriptHash = (name: Bytes): string => displayHash(nameIndexHash(name))

export interface ElectrumQuestion extends ElectrumLimits {
  readonly name: Bytes
  readonly network: NameProof["network"]
  /** Number of headers after the header of the operation. */
  readonly following: number
}

type Members = Readonly<Record<string, unknown>>

const malformed = (method: string): never => {
  throw new ElectrumFailure(`the answer to ${method} has an unexpected form`)
}

const membersOf = (value: unknown, method: string): Members =>
  typeof value === "object" && value !== null ? { ...value } : malformed(method)

const textOf = (value: unknown, method: string): string => typeof value === "string" ? value : malformed(method)

const numberOf = (value: unknown, method: string): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : malformed(method)

const listOf = (value: unknown, method: string): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : malformed(method)

const hashesOf = (value: unknown, method: string): ReadonlyArray<string> =>
  listOf(value, method).map((hash) => textOf(hash, method))

const HEADERS = "blockchain.headers.subscribe"

const tipHeight = async (session: ElectrumSession): Promise<Height> =>
  numberOf(membersOf(await session.call(HEADERS, []), HEADERS)["height"], HEADERS)

interface Place {
  readonly height: Height
  readonly txid: string
}

const HISTORY = "blockchain.scripthash.get_history"

/** The place of the newest confirmed operation; `undefined` if the server knows none. */
const newestOf = async (session: ElectrumSession, name: Bytes): Promise<Place | undefined> => {
  const history = listOf(await session.call(HISTORY, [nameScriptHash(name)]), HISTORY).map((row) => {
    const { height, tx_hash: txid } = membersOf(row, HISTORY)
    return { height: typeof height === "number" ? height : 0, txid: textOf(txid, HISTORY) }
  })
  return history.findLast(({ height }) => height > 0)
}

const MERKLE = "blockchain.transaction.get_merkle"
const GET = "blockchain.transaction.get"
const FROM_POS = "blockchain.transaction.id_from_pos"
const HEADER = "blockchain.block.header"

/** The first transaction of a block. Only servers with all transactions have it. */
const coinbaseAt = async (session: ElectrumSession, height: Height): Promise<Pick<NameProofOperation, "coinbase">> => {
  try {
    const { merkle, tx_hash: txid } = membersOf(await session.call(FROM_POS, [height, 0, true]), FROM_POS)
    const tx = textOf(await session.call(GET, [textOf(txid, FROM_POS), false]), GET)
    return { coinbase: { tx, branch: hashesOf(merkle, FROM_POS) } }
  } catch (error) {
    if (error instanceof ElectrumFailure) return {}
    throw error
  }
}

/** The tip with its merged-mining proof, which the notification of the tip may lack. */
const tipAt = async (session: ElectrumSession, height: Height): Promise<ProofTip> => {
  const [header, coinbase] = await Promise.all([
    session.call(HEADER, [height, 0]).then((text) => textOf(text, HEADER)),
    coinbaseAt(session, height)
  ])
  const bytes = fromHex(header)
  if (bytes === undefined || bytes.length < HEADER_SIZE) return malformed(HEADER)
  return { height, hash: displayHash(new Header(bytes.subarray(0, HEADER_SIZE)).hash), header, ...coinbase }
}

/** The output with the name; 0 if there is none, which the verification reports. */
const outputOf = (tx: string): number => {
  const { outputs } = decodeTransaction(fromHex(tx) ?? EMPTY)
  return Math.max(0, outputs.findIndex(({ script }) => parseNameScript(script) !== undefined))
}

const operationAt = async (
  session: ElectrumSession,
  { height, txid }: Place,
  last: Height
): Promise<NameProofOperation> => {
  const header = async (at: Height) => textOf(await session.call(HEADER, [at, 0]), HEADER)
  const [tx, proof, coinbase, ...headers] = await Promise.all([
    session.call(GET, [txid, false]).then((text) => textOf(text, GET)),
    session.call(MERKLE, [txid, height]).then((answer) => membersOf(answer, MERKLE)),
    coinbaseAt(session, height),
    ...Array.from({ length: last - height + 1 }, (_, i) => header(height + i))
  ])
  const branch = hashesOf(proof["merkle"], MERKLE)
  return { height, tx, vout: outputOf(tx), branch, pos: numberOf(proof["pos"], MERKLE), ...coinbase, headers }
}

/** Protocol versions with the methods above, which all servers support since 2018. */
const VERSIONS = ["1.4", "1.4.3"]

/**
 * Asks one server for the newest operation on a name, and makes a proof of its answers; `undefined` if it does not know
 * the name. Rejects with `ElectrumFailure`.
 */
export const askElectrum = async (url: string, question: ElectrumQuestion): Promise<NameProof | undefined> => {
  const { following, name, network } = question
  const session = await openElectrum(url, question)
  try {
    await session.call("server.version", ["svcd", VERSIONS])
    const tip = await tipHeight(session)
    const newest = await newestOf(session, name)
    if (newest === undefined) return undefined
    const last = Math.max(newest.height, Math.min(newest.height + following, tip))
    const [operation, asOf] = await Promise.all([operationAt(session, newest, last), tipAt(session, tip)])
    return { svcd: NAME_PROOF, network, name: toHex(name), operations: [operation], asOf }
  } catch (error) {
    if (error instanceof DecodeError) {
      throw new ElectrumFailure(`the server sent an invalid transaction: ${error.message}`)
    }
    throw error
  } finally {
    session.close()
  }
}
