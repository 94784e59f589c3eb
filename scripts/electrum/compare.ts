// Asks two Electrum servers for Namecoin the same, and prints where their answers differ: a server beside the one that it replaces, or
// two versions of one. Both follow the same chain, the first with an index of all transactions (`-txindex`). With `--reorganizations`, the
// chain is one of regtest: it is reorganized by 1 to N blocks through the JSON-RPC of a node, whose wallet sends between with `--traffic`.
// Usage: compare.js HOST:PORT HOST:PORT [--blocks N] [--random N] [--seed N] [--wallets] [--all] [--reorganizations N --rpc URL [--traffic]]

import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import process from "node:process"
import { parseArgs } from "node:util"
import { type Address, parseHostPort } from "../../src/base/addresses.ts"
import { Random } from "../crash/random.ts"
import { RpcClient } from "../crash/rpc.ts"
import {
  type Call,
  coinCalls,
  GENERAL,
  headerCalls,
  scriptCalls,
  type ServedChain,
  STRANGE_MESSAGES,
  strangeCall,
  unknownHash,
  VERSIONS
} from "./calls.ts"
import { chainQuestions, COMPARED, type Compared, comparison } from "./comparison.ts"
import { reorganizations } from "./reorganizations.ts"
import { readServedChain } from "./servedChain.ts"
import { Client, type Difference, kindOf, ServedPair } from "./ServedPair.ts"

const USAGE =
  "usage: compare.js HOST:PORT HOST:PORT [--blocks N] [--random N] [--seed N] [--wallets] [--all] [--reorganizations N --rpc URL [--traffic]]\n"

/** Of each kind of difference. */
const SHOWN = 3

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    blocks: { type: "string", default: "1000" },
    random: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    wallets: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    reorganizations: { type: "string", default: "0" },
    traffic: { type: "boolean", default: false },
    rpc: { type: "string" }
  }
})

const addresses = positionals.flatMap((text): ReadonlyArray<Address> =>
  Either.match(parseHostPort(text, "required"), {
    onLeft: () => [],
    onRight: (address) => [address]
  })
)
const [one, other] = addresses
const depths = Number(values.reorganizations)
const rpcUrl = URL.parse(values.rpc ?? "")
const isDepth = Number.isInteger(depths) && depths >= 0
if (
  one === undefined || other === undefined || positionals.length !== 2 || !isDepth || (depths > 0 && rpcUrl === null)
) {
  process.stderr.write(USAGE)
  process.exit(2)
}
const servers = [one, other] as const

const random = new Random(Number(values.seed))
const count = Number(values.random)

/** All of the chain, then what random numbers say. Those of one element have their order. */
const questions = (chain: ServedChain): ReadonlyArray<ReadonlyArray<Call>> => [
  GENERAL,
  ...chainQuestions(chain, random),
  ...Array.from({ length: count }, () => {
    const hash = unknownHash(random)
    return [...scriptCalls(hash), ...coinCalls(hash), ...headerCalls(chain, random), strangeCall(chain, random)]
  })
]

const versions = async (): Promise<Compared> => {
  const pair = new ServedPair(servers, "first message")
  for (const message of STRANGE_MESSAGES) await pair.first(`${message}\n`)
  for (const version of VERSIONS) {
    const call = { id: 0, method: "server.version", params: ["compare", version] }
    await pair.first(`${JSON.stringify(call)}\n`)
  }
  return pair
}

const SHOWN_LENGTH = 600

const shown = (text: string, from = 0): string => {
  const end = from + SHOWN_LENGTH
  return `${from > 0 ? "…" : ""}${text.slice(from, end)}${end < text.length ? "…" : ""}`
}

/** Both answers, from a little before the place where they begin to differ. */
const shownAnswers = ([one, other]: Difference["answers"]): string => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const from = at < SHOWN_LENGTH / 2 ? 0 : at - SHOWN_LENGTH / 4
  return `      1: ${shown(one, from)}\n      2: ${shown(other, from)}\n`
}

const printDifferences = (differences: ReadonlyArray<Difference>): void => {
  for (const [kind, found] of Object.entries(Arr.groupBy(differences, kindOf))) {
    process.stdout.write(`  ${found.length} of ${kind}\n`)
    for (const { answers, sent } of values.all ? found : found.slice(0, SHOWN)) {
      process.stdout.write(`    ${shown(sent)}\n${shownAnswers(answers)}`)
    }
  }
}

let differences = 0
const print = (name: string, compared: Compared): void => {
  process.stdout.write(`${name}: ${compared.asked} messages, ${compared.differences.length} differences\n`)
  printDifferences(compared.differences)
  differences += compared.differences.length
}

/** One chain that stays as it is. */
const compareChain = async (): Promise<void> => {
  const reader = new Client(one, "1.4")
  const chain = await readServedChain(reader, { blocks: Number(values.blocks), wallets: values.wallets })
  await reader.close()
  const { names, scripts, tip, transactions } = chain
  process.stdout.write(
    `tip ${tip}, ${transactions.length} transactions, ${names.length} names, ${scripts.length} scripts, seed ${values.seed}\n`
  )
  print("first messages", await versions())
  for (const version of COMPARED) print(version, await comparison(servers, version, questions(chain)))
}

const compareReorganizations = async (rpc: RpcClient): Promise<void> => {
  const { asked } = await reorganizations(
    { servers, rpc, random, depths, wallets: values.wallets, traffic: values.traffic },
    (depth, compared) => print(`${depth} blocks replaced`, compared)
  )
  process.stdout.write(`${asked} messages in all, seed ${values.seed}\n`)
}

await (depths > 0 && rpcUrl !== null ? compareReorganizations(new RpcClient(rpcUrl)) : compareChain())
process.exitCode = differences === 0 ? 0 : 1
