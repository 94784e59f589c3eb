import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import { ChainSink, type Submission } from "../../chain/ChainSink.ts"
import type { BlockNotFound } from "../../chain/errors.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { Warnings } from "../../chain/Warnings.ts"
import { difficultyOf, targetOf } from "../../consensus/difficulty.ts"
import { blockFlags, flagNames } from "../../consensus/flags.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { type Block, decodeBlock } from "../../protocol/block.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { decodedOr } from "../../protocol/Reader.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import {
  GETBESTBLOCKHASH,
  GETBLOCKCHAININFO,
  GETBLOCKCOUNT,
  GETBLOCKHASH,
  GETCHAINTIPS,
  GETDEPLOYMENTINFO,
  GETDIFFICULTY,
  INVALIDATEBLOCK,
  PRECIOUSBLOCK,
  RECONSIDERBLOCK,
  SUBMITBLOCK
} from "../contract/chain/chain.ts"
import { method } from "../method/method.ts"
import type { Method, Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { pruneFacts } from "./checkMethods.ts"
import { blockError, storageError } from "./errors.ts"
import { withReservedValue } from "./reservedValue.ts"

/** reference/rpc.md 3.2, 3.5, 3.10. */

export const wide = (value: bigint): string => value.toString(16).padStart(64, "0")

export const compactBits = (bits: number): string => bits.toString(16).padStart(8, "0")

interface Services {
  readonly chain: typeof Chain.Service
  readonly sink: typeof ChainSink.Service
  readonly control: typeof ChainControl.Service
  readonly status: typeof SyncStatus.Service
  readonly reporter: typeof SyncReporter.Service
  readonly warnings: typeof Warnings.Service
}

const readers = ({ chain, control, reporter, status, warnings }: Services): ReadonlyArray<Method> => {
  const getblockcount = method(GETBLOCKCOUNT, () => Effect.map(chain.toldTip, ({ height }) => height))

  const getbestblockhash = method(GETBESTBLOCKHASH, () => Effect.map(chain.toldTip, (tip) => displayHash(tip.hash)))

  const getblockhash = method(
    GETBLOCKHASH,
    ({ height }) =>
      Effect.flatMap(chain.headerAt(height), (header) =>
        header === undefined
          ? RpcError.invalidParameter("Block height out of range")
          : Effect.succeed(displayHash(header.hash)))
  )

  const getdifficulty = method(GETDIFFICULTY, () => Effect.map(chain.tip, ({ header }) => difficultyOf(header.bits)))

  const getblockchaininfo = method(GETBLOCKCHAININFO, () =>
    Effect.gen(function*() {
      const tip = yield* chain.toldTip
      const { headers } = yield* chain.progress
      const { bits, time } = tip.header
      return {
        chain: chain.params.network.chainName,
        blocks: tip.height,
        headers,
        bestblockhash: displayHash(tip.hash),
        bits: compactBits(bits),
        difficulty: difficultyOf(bits),
        target: wide(targetOf(bits, chain.params.powLimit) ?? 0n),
        time,
        mediantime: tip.medianTimePast,
        verificationprogress: yield* reporter.verified,
        initialblockdownload: yield* status.initialDownload,
        chainwork: wide(tip.chainwork),
        size_on_disk: yield* control.sizeOnDisk,
        ...pruneFacts(control.pruning.options, yield* control.pruning.prunedTo),
        warnings: yield* warnings.current
      }
    }))

  const getchaintips = method(
    GETCHAINTIPS,
    () =>
      Effect.map(chain.branches, (branches) =>
        branches.map(({ length, status, tip }) => ({
          height: tip.height,
          hash: displayHash(tip.hash),
          branchlen: length,
          status
        })))
  )

  return [getblockcount, getbestblockhash, getblockhash, getdifficulty, getblockchaininfo, getchaintips]
}

/** By the reference node's names and in its order. */
const DEPLOYMENTS = [
  ["bip34", "bip34"],
  ["bip16", "bip16"],
  ["bip66", "bip66"],
  ["bip65", "bip65"],
  ["csv", "csv"],
  ["segwit", "segwit"]
] as const

const deployments = (chain: typeof Chain.Service): Method => {
  const { activation } = chain.params
  const describe = ({ hash, height }: HeaderInfo) => ({
    hash: displayHash(hash),
    height,
    script_flags: [...flagNames(blockFlags(height, chain.params))].sort(),
    deployments: Object.fromEntries(
      DEPLOYMENTS.map(([name, rule]) => [name, {
        type: "buried",
        // As of the next block, like the reference node.
        active: height + 1 >= activation[rule],
        height: activation[rule]
      }])
    )
  })
  return method(
    GETDEPLOYMENTINFO,
    ({ blockhash }) =>
      (blockhash === undefined ? chain.tip : Effect.mapError(chain.header(blockhash), blockError)).pipe(
        Effect.map(describe)
      )
  )
}

export const decodeHexBlock = (hex: string): Effect.Effect<Block, RpcError> =>
  Effect.suspend(() => {
    const failed = RpcError.deserialization("Block decode failed")
    if (!/^(?:[0-9a-fA-F]{2})+$/.test(hex)) return failed
    return decodedOr(() => Effect.succeed(decodeBlock(Buffer.from(hex, "hex"))), () => failed)
  })

/** BIP 22. */
const verdict = (submission: Submission): string | null => {
  switch (submission.type) {
    case "connected":
      return null
    case "rejected":
      return submission.reject.reason
    default:
      return submission.type
  }
}

const writers = ({ chain, control, sink }: Services): ReadonlyArray<Method> => {
  const submitblock = method(SUBMITBLOCK, ({ hexdata }) =>
    Effect.gen(function*() {
      const block = yield* decodeHexBlock(hexdata)
      const prev = yield* Effect.option(chain.header(block.header.prevHash))
      const whole = prev._tag === "None" ? block : withReservedValue(block, prev.value.height + 1, chain.params)
      return verdict(yield* Effect.mapError(sink.submit(whole), storageError))
    }))

  const preciousblock = method(
    PRECIOUSBLOCK,
    ({ blockhash }) => control.prefer(blockhash).pipe(Effect.mapError(blockError), Effect.as(null))
  )

  const changed = (
    act: Effect.Effect<void, BlockNotFound | StorageFailure | RpcError>
  ): Effect.Effect<null, RpcError> =>
    act.pipe(
      Effect.mapError((failure) => failure._tag === "RpcError" ? failure : blockError(failure)),
      Effect.as(null)
    )

  const invalidateblock = method(
    INVALIDATEBLOCK,
    ({ blockhash }) =>
      changed(Effect.catchTags(control.invalidate(blockhash), {
        BeyondPruned: ({ message }) => RpcError.database(message),
        BelowSnapshot: ({ message }) => RpcError.database(message)
      }))
  )

  const reconsiderblock = method(RECONSIDERBLOCK, ({ blockhash }) => changed(control.reconsider(blockhash)))

  return [submitblock, preciousblock, invalidateblock, reconsiderblock]
}

export const chainMethods: Methods<
  Chain | ChainSink | ChainControl | SyncReporter | SyncStatus | Warnings
> = Effect.gen(function*() {
  const services: Services = {
    chain: yield* Chain,
    sink: yield* ChainSink,
    control: yield* ChainControl,
    status: yield* SyncStatus,
    reporter: yield* SyncReporter,
    warnings: yield* Warnings
  }
  return [...readers(services), deployments(services.chain), ...writers(services)]
})
