import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { Miner } from "../../mempool/mining/Miner.ts"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import { type Bytes, displayHash, fromHex, parseDisplayHash, toHex } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { descriptorScript } from "../../wallet/keys/expandDescriptor.ts"
import { GENERATE, GENERATEBLOCK, GENERATETOADDRESS, GENERATETODESCRIPTOR } from "../contract/mining/generate.ts"
import { methodHelp } from "../method/help.ts"
import { eachInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method, Methods } from "../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { decodeWithInputs } from "../shapes/decodeTransaction.ts"
import { miningError } from "./errors.ts"

/** Mining at once on the private network, where it takes two tries (reference/rpc.md 3.5). */

export const generateMethods: Methods<Chain | Mempool | Miner> = Effect.gen(function*() {
  const { params: { network } } = yield* Chain
  const mempool = yield* Mempool
  const miner = yield* Miner

  const generate = (count: number, script: Bytes, maxTries: number) =>
    miner.generate(count, script, maxTries).pipe(
      Effect.map((hashes) => hashes.map(displayHash)),
      Effect.mapError(miningError)
    )

  const generatetoaddress = method(GENERATETOADDRESS, ({ address, maxtries, nblocks }) =>
    Effect.suspend(() => {
      const parsed = decodeAddress(network, address)
      if ("error" in parsed) return RpcError.invalidAddressOrKey("Error: Invalid address")
      // The reference node reads a negative number as a very large one.
      return generate(nblocks, scriptOf(parsed.destination), maxtries < 0 ? Infinity : maxtries)
    }))

  const generatetodescriptor = method(
    GENERATETODESCRIPTOR,
    ({ descriptor, maxtries, num_blocks: count }) =>
      Effect.suspend(() => {
        const parsed = descriptorScript(network, descriptor)
        if ("script" in parsed) return generate(count, parsed.script, maxtries)
        return manyScripts(parsed.kind) ?? RpcError.invalidAddressOrKey(parsed.error)
      })
  )

  const outputScript = (output: string): Effect.Effect<Bytes, RpcError> => {
    const parsed = descriptorScript(network, output)
    if ("script" in parsed) return Effect.succeed(parsed.script)
    const address = decodeAddress(network, output)
    if ("destination" in address) return Effect.succeed(scriptOf(address.destination))
    return manyScripts(parsed.kind) ?? RpcError.invalidAddressOrKey("Error: Invalid address or descriptor")
  }

  /** `text` is the txid of a pool transaction, or a transaction in hex. */
  const findTransaction = (text: string): Effect.Effect<Transaction, RpcError> => {
    const txid = parseDisplayHash(text)
    if (txid !== undefined) {
      const entry = mempool.get(txidKey(txid))
      return entry === undefined
        ? RpcError.invalidAddressOrKey(`Transaction ${text} not in mempool.`)
        : Effect.succeed(entry.transaction)
    }
    const bytes = fromHex(text)
    const transaction = bytes === undefined ? undefined : decodeWithInputs(bytes)
    return transaction === undefined
      ? RpcError.deserialization(`Transaction decode failed for ${text}. Make sure the tx has at least one input.`)
      : Effect.succeed(transaction)
  }

  const generateblock = method(
    GENERATEBLOCK,
    ({ output, submit, transactions }, { turns }) =>
      Effect.gen(function*() {
        const script = yield* outputScript(output)
        const chosen = yield* eachInTurns(turns, transactions, findTransaction)
        const block = yield* miner.generateWith(script, chosen, submit).pipe(
          Effect.catchTag("TemplateInvalid", ({ message }) => RpcError.verifyError(message)),
          Effect.catchTag("NoWorkFound", ({ message }) => RpcError.misc(message)),
          Effect.mapError((failure) => failure instanceof RpcError ? failure : miningError(failure))
        )
        const hash = displayHash(block.hash)
        return submit ? { hash } : { hash, hex: toHex(block.bytes) }
      })
  )

  const removed: Method = method(
    GENERATE,
    () => new RpcError({ code: RPC_CODE.methodNotFound, message: methodHelp(removed) })
  )

  return [generatetoaddress, generatetodescriptor, generateblock, removed]
})

/** `kind` says why the descriptor has more than one script. */
const manyScripts = (kind: "invalid" | "ranged" | "multipath"): RpcError | undefined => {
  if (kind === "multipath") return RpcError.invalidParameter("Multipath descriptor not accepted")
  if (kind === "invalid") return undefined
  return RpcError.invalidParameter("Ranged descriptor not accepted. Maybe pass through deriveaddresses first?")
}
