import * as Effect from "effect/Effect"
import type { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { RpcError } from "../method/RpcError.ts"
import { blockError } from "./errors.ts"

/** A block by its hash or its height. Source: upstream `rpc/blockchain.cpp`, `ParseHashOrHeight`. */

export const findBlock = (
  chain: typeof Chain.Service,
  wanted: number | Bytes
): Effect.Effect<HeaderInfo, RpcError> =>
  Effect.gen(function*() {
    if (typeof wanted !== "number") return yield* Effect.mapError(chain.header(wanted), blockError)
    if (wanted < 0) return yield* RpcError.invalidParameter(`Target block height ${wanted} is negative`)
    const info = yield* chain.headerAt(wanted)
    const { height } = yield* chain.tip
    return info ??
      (yield* RpcError.invalidParameter(`Target block height ${wanted} after current tip ${height}`))
  })
