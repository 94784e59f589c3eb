import SQLite from "better-sqlite3"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { decodeCoin, outpointOfKey } from "../../../src/chain/state/coinCodec.ts"
import type { Coin } from "../../../src/consensus/view.ts"
import type { Bytes } from "../../../src/protocol/bytes.ts"
import type { Height } from "../../../src/protocol/keys.ts"

// What a node has on disk, read by connections of its own between two tasks of the node: they see the last commit and
// hold no lock afterwards. Each reader returns `undefined` while the file or its state does not exist yet.

export interface StoredOperation {
  readonly id: number
  readonly name: Bytes
  readonly txid: Bytes
  readonly vout: number
  readonly amount: number
  readonly value: Bytes
  readonly address: Bytes
  readonly rand: Bytes | null
}

interface StoredName {
  readonly name: Bytes
  readonly operation: number
  readonly address: Bytes
}

interface StoredBlock {
  readonly height: Height
  readonly hash: Bytes
}

/** The content of names.db. */
export interface NamesContent {
  readonly cursor: StoredBlock
  /** The last blocks, the highest first. */
  readonly blocks: ReadonlyArray<StoredBlock>
  /** The height where the histories begin; `undefined` for genesis. */
  readonly beginning: Height | undefined
  readonly operations: ReadonlyArray<StoredOperation>
  readonly names: ReadonlyArray<StoredName>
}

/** The content of chainstate.db, as of its best block. */
export interface StateContent {
  readonly best: Bytes
  readonly claims: ReadonlyArray<{ readonly name: Bytes; readonly height: Height; readonly outpoint: Bytes }>
  readonly coins: ReadonlyArray<readonly [outpoint: string, coin: Coin]>
}

const reading = <A>(file: string, read: (database: SQLite.Database) => A | undefined): A | undefined => {
  if (!existsSync(file)) return undefined
  const database = new SQLite(file, { readonly: true })
  try {
    return database.transaction(() => isMade(database) ? read(database) : undefined)()
  } finally {
    database.close()
  }
}

const isMade = (database: SQLite.Database): boolean =>
  database.prepare("SELECT 1 FROM sqlite_master WHERE name IN ('cursor', 'state')").get() !== undefined

export const readNames = (directory: string): NamesContent | undefined =>
  reading(join(directory, "names.db"), (database) => {
    const all = <Row>(text: string): ReadonlyArray<Row> => database.prepare<[], Row>(text).all()
    const [cursor] = all<StoredBlock>("SELECT height, hash FROM cursor")
    if (cursor === undefined) return undefined
    return {
      cursor,
      blocks: all("SELECT height, hash FROM blocks ORDER BY height DESC"),
      beginning: all<{ readonly height: Height }>("SELECT height FROM beginning")[0]?.height,
      operations: all(
        `SELECT o.id, n.name, o.txid, o.vout, o.amount, o.value, o.address, o.rand
         FROM operations o LEFT JOIN names n ON n.id = o.name_id ORDER BY o.id`
      ),
      names: all("SELECT name, operation, address FROM names ORDER BY name")
    }
  })

export const readState = (directory: string): StateContent | undefined =>
  reading(join(directory, "chainstate", "chainstate.db"), (database) => {
    const all = <Row>(text: string): ReadonlyArray<Row> => database.prepare<[], Row>(text).all()
    const [state] = all<{ readonly best_hash: Bytes }>("SELECT best_hash FROM state")
    if (state === undefined) return undefined
    const coins = all<{ readonly outpoint: Bytes; readonly coin: Bytes }>("SELECT outpoint, coin FROM coins")
    return {
      best: state.best_hash,
      claims: all("SELECT name, height, outpoint FROM claims ORDER BY name"),
      coins: coins.map(({ coin, outpoint }) => [outpointOfKey(outpoint), decodeCoin(coin)] as const)
    }
  })
