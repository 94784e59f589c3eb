import { contract } from "../../method/contract.ts"
import { int64 } from "../../method/params.ts"
import * as Result from "../../method/results.ts"

/** The last second whose nanoseconds fit into 63 bits. */
export const MAX_MOCK_TIME = 9_223_372_036

export const onRegtest = (name: string) => `${name} is for regression testing (-regtest mode) only`

const NULL = [{ schema: Result.nothing("") }]

export const SETMOCKTIME = contract({
  name: "setmocktime",
  coins: "any",
  writes: true,
  group: "Hidden",
  summary: "Sets the clock of the node to a fixed time. Only on regtest.",
  params: { timestamp: int64("Seconds since 1970; 0 returns to the real time.") },
  results: NULL,
  examples: [[1_700_000_000]],
  errors: [`-1 ${onRegtest("setmocktime")}`, `-8 Mocktime must be in the range [0, ${MAX_MOCK_TIME}], not <n>.`]
})

export const MOCKSCHEDULER = contract({
  name: "mockscheduler",
  coins: "any",
  writes: true,
  group: "Hidden",
  summary: "Moves the schedule of periodic tasks forward. Only on regtest.",
  params: { delta_time: int64("Seconds, 1 to 3600.") },
  results: NULL,
  examples: [[600]],
  errors: [`-1 ${onRegtest("mockscheduler")}`, "-1 delta_time must be between 1 and 3600 seconds (1 hr)"]
})

export const SYNCWITHVALIDATIONINTERFACEQUEUE = contract({
  name: "syncwithvalidationinterfacequeue",
  right: "read",
  group: "Hidden",
  summary: "Waits until names, indexes, mempool and wallet have processed all blocks so far.",
  params: {},
  results: NULL,
  examples: [[]]
})
