import type { Database } from "./Database.ts"

export type RowCell = Uint8Array | number

/** Rows per statement. More rows save little; fewer cost up to twice the time. */
const ROWS = 64

/**
 * Runs one statement over a list of rows, many rows at a time. `text` returns the SQL for a number of rows, `cells`
 * appends the values of one row. Inside a transaction either all rows are written or none.
 */
export const rowWriter = <Row>(
  database: Database,
  text: (rows: number) => string,
  cells: (row: Row, into: Array<RowCell>) => void
): (rows: ReadonlyArray<Row>) => void => {
  const many = database.prepare<Array<Array<RowCell>>>(text(ROWS))
  const single = database.prepare<Array<Array<RowCell>>>(text(1))
  return (rows) => {
    const whole = rows.length - rows.length % ROWS
    let bound: Array<RowCell> = []
    for (const [at, row] of rows.entries()) {
      cells(row, bound)
      if (at < whole && (at + 1) % ROWS !== 0) continue
      if (at < whole) many.run(bound)
      else single.run(bound)
      bound = []
    }
  }
}

export const repeated = (group: string, count: number): string => Array.from({ length: count }, () => group).join(", ")
