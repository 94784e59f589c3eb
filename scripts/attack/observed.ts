import type { Target } from "./Target.ts"

/** The IPC messages between main.ts, the honest side and the attackers. */

/** To the honest side: begin with a node, start to measure, report the measurements. */
export type ProberOrder =
  | { readonly type: "begin"; readonly target: Target; readonly authorization: string | undefined }
  | { readonly type: "measure" }
  | { readonly type: "tell" }

/** Measurements of the honest side in milliseconds, and unexpected events with their count. */
export interface Observed {
  readonly type: "observed"
  readonly pings: ReadonlyArray<number>
  readonly calls: ReadonlyArray<number>
  readonly newCalls: ReadonlyArray<number>
  readonly complaints: ReadonlyArray<readonly [string, number]>
}

/** From the honest side. */
export type ProberNews =
  | { readonly type: "listening"; readonly port: number }
  | { readonly type: "ready" }
  | Observed

/** To the attackers: prepare an attack, begin, stop. */
export type AttackerOrder =
  | { readonly type: "prepare"; readonly attack: string; readonly target: Target }
  | { readonly type: "begin" }
  | { readonly type: "stop" }

/** From the attackers. */
export type AttackerNews =
  | { readonly type: "prepared" }
  | { readonly type: "effort"; readonly connections: number; readonly bytes: number }
