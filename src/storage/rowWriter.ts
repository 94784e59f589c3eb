import type { Database } from "./Database.ts"

export type RowCell = Uint8Array | number | null

/** Per statement. More save little; fewer cost up to twice the time. */
const ROWS = 64

/** `text` is the SQL for a number of rows, `cells` one row's values. A transaction writes all rows or none. */
export const rowWriter = <Row>(
  database: Database,
  text: (rows: number) => string,
  cells: (row: Row, into: Array<RowCell>) => void
): (rows: Iterable<Row>) => void => {
  const many = database.prepare<Array<Array<RowCell>>>(text(ROWS))
  const single = database.prepare<Array<Array<RowCell>>>(text(1))
  return (rows) => {
    let bound: Array<RowCell> = []
    let count = 0
    for (const row of rows) {
      cells(row, bound)
      if (++count < ROWS) continue
      many.run(bound)
      bound = []
      count = 0
    }
    const width = bound.length / count
    for (let at = 0; at < bound.length; at += width) single.run(bound.slice(at, at + width))
  }
}

export const repeated = (group: string, count: number): string => Array.from({ length: count }, () => group).join(", ")
