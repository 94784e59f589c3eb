const MIN_BAR = 10
const MAX_BAR = 40

export interface ProgressTerminal {
  readonly columns: number
  readonly write: (text: string) => void
}

/** Removes the line at the cursor. */
export const CLEAR_LINE = "\r\u001b[2K"

export interface Progress {
  /** 0 to 1. */
  readonly share: number
  readonly facts: string
}

/** One line, shorter than the terminal is wide; without a bar if there is no room. */
export const barLine = ({ facts, share }: Progress, columns: number): string => {
  const room = columns - facts.length - 4
  if (room < MIN_BAR) return facts.slice(0, Math.max(0, columns - 1))
  const width = Math.min(MAX_BAR, room)
  const full = Math.round(width * share)
  return `[${"#".repeat(full)}${".".repeat(width - full)}] ${facts}`
}

export const standardTerminal = (): ProgressTerminal | undefined =>
  process.stderr.isTTY === true
    ? {
      // Read each time: the size of the window may change.
      get columns() {
        return process.stderr.columns ?? 80
      },
      write: (text) => void process.stderr.write(text)
    }
    : undefined
