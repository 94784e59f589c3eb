import * as Effect from "effect/Effect"
import { codeOf, reasonOf } from "../base/errorCode.ts"
import { StorageUnavailable } from "./errors.ts"

/** Work on a file. A system error becomes a failure that names the file. */
export const io = <A>(
  { doing, file }: { readonly file: string; readonly doing: string },
  work: () => Promise<A>
): Effect.Effect<A, StorageUnavailable> =>
  Effect.tryPromise({
    try: work,
    catch: (error) => new StorageUnavailable({ file, doing, reason: reasonOf(codeOf(error)) })
  })
