import * as Effect from "effect/Effect"
import type { ErrorWords } from "../base/errorCode.ts"
import { type StorageUnavailable, storageUnavailable } from "./errors.ts"

/** A system error becomes a failure that names the file. */
export const io = <A>(
  on: { readonly file: string; readonly doing: string },
  work: () => Promise<A>,
  words?: ErrorWords
): Effect.Effect<A, StorageUnavailable> =>
  Effect.tryPromise({ try: work, catch: (error) => storageUnavailable(on, error, words) })
