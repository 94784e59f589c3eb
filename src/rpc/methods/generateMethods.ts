import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { DEFAULT_MAX_TRIES, Miner } from "../../mempool/mining/Miner.ts"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import { type Bytes, displayHash, fromHex, parseDisplayHash, toHex } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { descriptorScript } from "../../wallet/keys/expandDescriptor.ts"
import { methodHelp } from "../method/help.ts"
import { eachInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { array, atMost, boolean, hexText, int32, int64, refined, string, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { decodeWithInputs } from "../shapes/decodeTransaction.ts"
import { miningError } from "./miningErrors.ts"

/**
 * Methods that mine blocks immediately: on the private network, where mining takes two tries (reference/rpc.md 3.5).
 */

const HASHES = Schema.Array(Result.hex("Hash of a block"))

const EXAMPLE = "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"

/** Most blocks of one call, which runs to its end. */
const MOST_BLOCKS = 100_000

const TRIES = "Maximum number of nonces to try."

export const generateMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | Mempool | Miner> = Effect.gen(
  function*() {
    const { params: { network } } = yield* Chain
    const mempool = yield* Mempool
    const miner = yield* Miner

    const generate = (count: number, script: Bytes, maxTries: number) =>
      miner.generate(count, script, maxTries).pipe(
        Effect.map((hashes) => hashes.map(displayHash)),
        Effect.mapError(miningError)
      )

    const generatetoaddress = method({
      name: "generatetoaddress",
      writes: true,
      group: "Mining",
      summary: "Mines blocks that pay an address, each with a merged-mining proof, and returns their hashes.",
      params: {
        nblocks: atMost(MOST_BLOCKS, int32(`Number of blocks, at most ${MOST_BLOCKS}.`)),
        address: string("Address that the blocks pay."),
        maxtries: withDefault(int32(TRIES), DEFAULT_MAX_TRIES)
      },
      results: [{ schema: HASHES }],
      examples: [[11, EXAMPLE]],
      errors: ["-5 Error: Invalid address", "-1 TestBlockValidity failed: <reason>"],
      handler: ({ address, maxtries, nblocks }) =>
        Effect.suspend(() => {
          const parsed = decodeAddress(network, address)
          if ("error" in parsed) return RpcError.invalidAddressOrKey("Error: Invalid address")
          // The reference node reads a negative number as a very large one.
          return generate(nblocks, scriptOf(parsed.destination), maxtries < 0 ? Infinity : maxtries)
        })
    })

    const generatetodescriptor = method({
      name: "generatetodescriptor",
      writes: true,
      group: "Mining",
      summary: "Mines blocks that pay the script of a descriptor, and returns their hashes.",
      params: {
        num_blocks: atMost(MOST_BLOCKS, int32(`Number of blocks, at most ${MOST_BLOCKS}.`)),
        descriptor: string("Descriptor that the blocks pay; the checksum is optional."),
        maxtries: withDefault(
          refined(int64(TRIES), (tries) => {
            return tries < 0 ? RpcError.integerOutOfRange() : tries
          }),
          DEFAULT_MAX_TRIES
        )
      },
      results: [{ schema: HASHES }],
      examples: [[11, `addr(${EXAMPLE})`]],
      errors: [
        "-5 <reason why the descriptor is invalid>",
        "-8 Ranged descriptor not accepted. Maybe pass through deriveaddresses first?",
        "-8 Multipath descriptor not accepted",
        "-1 TestBlockValidity failed: <reason>"
      ],
      handler: ({ descriptor, maxtries, num_blocks: count }) =>
        Effect.suspend(() => {
          const parsed = descriptorScript(network, descriptor)
          if ("script" in parsed) return generate(count, parsed.script, maxtries)
          return manyScripts(parsed.kind) ?? RpcError.invalidAddressOrKey(parsed.error)
        })
    })

    const outputScript = (output: string): Effect.Effect<Bytes, RpcError> => {
      const parsed = descriptorScript(network, output)
      if ("script" in parsed) return Effect.succeed(parsed.script)
      const address = decodeAddress(network, output)
      if ("destination" in address) return Effect.succeed(scriptOf(address.destination))
      return manyScripts(parsed.kind) ?? RpcError.invalidAddressOrKey("Error: Invalid address or descriptor")
    }

    /** A pool transaction by its txid, or a transaction in hexadecimal digits. */
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

    const generateblock = method({
      name: "generateblock",
      writes: true,
      group: "Mining",
      summary: "Mines a block of exactly the given transactions in order. The coinbase does not claim their fees.",
      params: {
        output: string("Address or descriptor that the block pays."),
        transactions: array(
          hexText("A txid from the mempool, or any transaction in hexadecimal digits."),
          "Transactions of the block."
        ),
        submit: withDefault(boolean("Whether to submit the block to the chain or to return it."), true)
      },
      results: [{
        schema: Schema.Struct({
          hash: Result.hex("Hash of the block"),
          hex: Schema.optional(Result.hex("The block, if it is not submitted"))
        })
      }],
      examples: [[EXAMPLE, []]],
      errors: [
        "-5 Error: Invalid address or descriptor",
        "-5 Transaction <txid> not in mempool.",
        "-22 Transaction decode failed for <hex>. Make sure the tx has at least one input.",
        "-25 TestBlockValidity failed: <reason>",
        "-1 Failed to make block."
      ],
      handler: ({ output, submit, transactions }, { turns }) =>
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
    })

    const removed: Method = method({
      name: "generate",
      writes: true,
      group: "Hidden",
      summary: "Removed. Use generatetoaddress with an address of the wallet instead.",
      params: {},
      results: [{ schema: Result.nothing("Never returned: the method always fails.") }],
      examples: [],
      errors: ["-32601 <this text>"],
      handler: () => new RpcError({ code: RPC_CODE.methodNotFound, message: methodHelp(removed) })
    })

    return [generatetoaddress, generatetodescriptor, generateblock, removed]
  }
)

/** The error for a descriptor of more than one script. */
const manyScripts = (kind: "invalid" | "ranged" | "multipath"): RpcError | undefined => {
  if (kind === "multipath") return RpcError.invalidParameter("Multipath descriptor not accepted")
  if (kind === "invalid") return undefined
  return RpcError.invalidParameter("Ranged descriptor not accepted. Maybe pass through deriveaddresses first?")
}
