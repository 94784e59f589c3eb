// Asks two Electrum servers for Namecoin the same, and prints where their answers differ: a server beside the one that it replaces, or
// two versions of one. Both follow the same chain, the first with an index of all transactions (`-txindex`).
// Usage: compare.js HOST:PORT HOST:PORT [--blocks N] [--random N] [--seed N] [--wallets] [--all]

import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import process from "node:process"
import { parseArgs } from "node:util"
import { type Address, parseHostPort } from "../../src/base/addresses.ts"
import { Random } from "../crash/random.ts"
import {
  type Call,
  coinCalls,
  GENERAL,
  headerCalls,
  nameCalls,
  scriptCalls,
  type ServedChain,
  STRANGE_MESSAGES,
  strangeCall,
  transactionCalls,
  unknownHash,
  VERSIONS
} from "./calls.ts"
import { readServedChain } from "./servedChain.ts"
import { Client, type Difference, kindOf, ServedPair } from "./ServedPair.ts"

/** Each with calls of its own. */
const COMPARED = ["1.4", "1.4.1", "1.4.2", "1.4.3", "1.6"]

/** Clients that ask at a time. */
const AT_ONCE = 8

/** Of each kind of difference. */
const SHOWN = 3

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    blocks: { type: "string", default: "1000" },
    random: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    wallets: { type: "boolean", default: false },
    all: { type: "boolean", default: false }
  }
})

const addresses = positionals.flatMap((text): ReadonlyArray<Address> =>
  Either.match(parseHostPort(text, "required"), {
    onLeft: () => [],
    onRight: (address) => [address]
  })
)
const [one, other] = addresses
if (one === undefined || other === undefined || positionals.length !== 2) {
  process.stderr.write(
    "usage: compare.js HOST:PORT HOST:PORT [--blocks N] [--random N] [--seed N] [--wallets] [--all]\n"
  )
  process.exit(2)
}
const servers = [one, other] as const

const random = new Random(Number(values.seed))
const count = Number(values.random)

/** All of the chain, then what random numbers say. Those of one element have their order. */
const questions = (chain: ServedChain): ReadonlyArray<ReadonlyArray<Call>> => [
  GENERAL,
  ...chain.names.map((hash) => nameCalls(hash, chain, random)),
  ...chain.scripts.map((hash) => [...scriptCalls(hash), ...coinCalls(hash)]),
  ...chain.transactions.map(transactionCalls),
  ...Array.from({ length: count }, () => {
    const hash = unknownHash(random)
    return [...scriptCalls(hash), ...coinCalls(hash), ...headerCalls(chain, random), strangeCall(chain, random)]
  })
]

interface Compared {
  readonly asked: number
  readonly differences: ReadonlyArray<Difference>
}

const comparison = async (chain: ServedChain, version: string): Promise<Compared> => {
  const pairs = Array.from({ length: AT_ONCE }, () => new ServedPair(servers, version))
  const waiting = questions(chain).values()
  await Promise.all(pairs.map(async (pair) => {
    for (const calls of waiting) for (const call of calls) await pair.call(call)
    await pair.close()
  }))
  return {
    asked: pairs.reduce((sum, { asked }) => sum + asked, 0),
    differences: pairs.flatMap(({ differences }) => differences)
  }
}

const versions = async (): Promise<Compared> => {
  const pair = new ServedPair(servers, "first message")
  for (const message of STRANGE_MESSAGES) await pair.first(`${message}\n`)
  for (const version of VERSIONS) {
    const call = { id: 0, method: "server.version", params: ["compare", version] }
    await pair.first(`${JSON.stringify(call)}\n`)
  }
  return pair
}

const shown = (text: string): string => text.length > 600 ? `${text.slice(0, 600)}…` : text

const printDifferences = (differences: ReadonlyArray<Difference>): void => {
  for (const [kind, found] of Object.entries(Arr.groupBy(differences, kindOf))) {
    process.stdout.write(`  ${found.length} of ${kind}\n`)
    for (const { answers, sent } of values.all ? found : found.slice(0, SHOWN)) {
      process.stdout.write(`    ${shown(sent)}\n      1: ${shown(answers[0])}\n      2: ${shown(answers[1])}\n`)
    }
  }
}

const reader = new Client(one, "1.4")
const chain = await readServedChain(reader, { blocks: Number(values.blocks), wallets: values.wallets })
await reader.close()
const { names, scripts, tip, transactions } = chain
process.stdout.write(
  `tip ${tip}, ${transactions.length} transactions, ${names.length} names, ${scripts.length} scripts, seed ${values.seed}\n`
)
let differences = 0
const compare = async (name: string, work: Promise<Compared>): Promise<void> => {
  const pair = await work
  process.stdout.write(`${name}: ${pair.asked} messages, ${pair.differences.length} differences\n`)
  printDifferences(pair.differences)
  differences += pair.differences.length
}
await compare("first messages", versions())
for (const version of COMPARED) await compare(version, comparison(chain, version))
process.exitCode = differences === 0 ? 0 : 1
