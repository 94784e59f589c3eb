import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { isStorageFailure } from "../attempt.ts"
import {
  type BackgroundOptions,
  BackgroundState,
  type BlockBelow,
  type Comparison,
  type Connection
} from "./BackgroundState.ts"

/** Messages to the background validation thread, each answered before the next is sent. */
export type Ask =
  | { readonly type: "open"; readonly options: BackgroundOptions }
  | { readonly type: "connect"; readonly blocks: ReadonlyArray<BlockBelow> }
  | { readonly type: "flush" }
  | { readonly type: "compare"; readonly height: Height; readonly limit: number }
  | { readonly type: "close" }

export type Answer =
  | { readonly type: "open"; readonly tip: Bytes }
  | ({ readonly type: "connect" } & Connection)
  | { readonly type: "flush" }
  | ({ readonly type: "compare" } & Comparison)
  | { readonly type: "close" }
  | { readonly type: "failed"; readonly failure: FailureFields }

/** The fields of a `StorageFailure`, as errors lose their class in a message. */
type FailureFields =
  | { readonly _tag: "StorageCorrupted"; readonly file: string; readonly found: string; readonly remedy: string }
  | {
    readonly _tag: "StorageUnavailable"
    readonly file: string
    readonly doing: string
    readonly reason: string
    readonly code: string | undefined
  }

const fieldsOf = (failure: StorageFailure): FailureFields => {
  if (failure._tag === "StorageCorrupted") {
    const { _tag, file, found, remedy } = failure
    return { _tag, file, found, remedy }
  }
  const { _tag, code, doing, file, reason } = failure
  return { _tag, file, doing, reason, code }
}

export const failureOf = (fields: FailureFields): StorageFailure =>
  fields._tag === "StorageCorrupted" ? new StorageCorrupted(fields) : new StorageUnavailable(fields)

/** Answers messages in order. Throws anything but storage failures, which ends the thread. */
export const answerer = (): (ask: Ask) => Answer => {
  let open: BackgroundState | undefined
  const state = (): BackgroundState => {
    if (open === undefined) throw new Error("the chain state of the background is not open")
    return open
  }
  const answer = (ask: Ask): Answer => {
    switch (ask.type) {
      case "open": {
        open = new BackgroundState(ask.options)
        return { type: "open", tip: open.tip }
      }
      case "connect":
        return { type: "connect", ...state().connect(ask.blocks) }
      case "flush":
        state().flush()
        return { type: "flush" }
      case "compare":
        return { type: "compare", ...state().compare(ask) }
      case "close":
        open?.close()
        open = undefined
        return { type: "close" }
    }
  }
  return (ask) => {
    try {
      return answer(ask)
    } catch (cause) {
      if (!isStorageFailure(cause)) throw cause
      return { type: "failed", failure: fieldsOf(cause) }
    }
  }
}
