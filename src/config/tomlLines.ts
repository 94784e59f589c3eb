/**
 * The lines of the keys of a TOML document. The parser has positions only for errors, so this scans the text again:
 * headers, keys, and values as far as needed to find their end. Keys of an inline table have the line of its key.
 */

const pathKey = (path: ReadonlyArray<string>): string => JSON.stringify(path)

const BARE = /[A-Za-z0-9_-]/

class Scanner {
  private at = 0
  private line = 1
  private readonly lines = new Map<string, number>()
  private readonly source: string

  constructor(source: string) {
    this.source = source
  }

  scan(): ReadonlyMap<string, number> {
    let table: ReadonlyArray<string> = []
    while (this.at < this.source.length) {
      this.skipWhile(/\s/)
      if (this.here === "#") this.skipLine()
      else if (this.here === "[") {
        table = this.header()
        this.skipLine()
      } else {
        this.note([...table, ...this.key()])
        this.value()
      }
    }
    return this.lines
  }

  private get here(): string {
    return this.source[this.at] ?? ""
  }

  private note(path: ReadonlyArray<string>): void {
    // A dotted key defines the tables on its path; messages point to the first definition.
    for (let length = 1; length <= path.length; length++) {
      const key = pathKey(path.slice(0, length))
      if (!this.lines.has(key)) this.lines.set(key, this.line)
    }
  }

  private advance(count = 1): void {
    for (let i = 0; i < count && this.at < this.source.length; i++) {
      if (this.here === "\n") this.line += 1
      this.at += 1
    }
  }

  private skipWhile(pattern: RegExp): void {
    while (this.at < this.source.length && pattern.test(this.here)) this.advance()
  }

  private skipLine(): void {
    this.skipWhile(/[^\n]/)
  }

  private header(): ReadonlyArray<string> {
    this.skipWhile(/\[/)
    const path = this.key()
    this.note(path)
    return path
  }

  private key(): ReadonlyArray<string> {
    const path: Array<string> = []
    for (;;) {
      this.skipWhile(/[ \t]/)
      const start = this.at
      if (this.here === "\"" || this.here === "'") {
        this.string()
        path.push(unquoted(this.source.slice(start, this.at)))
      } else {
        this.skipWhile(BARE)
        path.push(this.source.slice(start, this.at))
      }
      this.skipWhile(/[ \t]/)
      if (this.here !== ".") return path
      this.advance()
    }
  }

  private value(): void {
    let depth = 0
    while (this.at < this.source.length && (depth > 0 || this.here !== "\n")) {
      if (this.here === "\"" || this.here === "'") this.string()
      else if (this.here === "#") this.skipLine()
      else {
        if (this.here === "[" || this.here === "{") depth += 1
        if (this.here === "]" || this.here === "}") depth -= 1
        this.advance()
      }
    }
    this.advance()
  }

  private string(): void {
    const quote = this.here
    const multiline = this.source.startsWith(quote.repeat(3), this.at)
    const end = multiline ? quote.repeat(3) : quote
    this.advance(end.length)
    while (this.at < this.source.length && !this.source.startsWith(end, this.at)) {
      if (!multiline && this.here === "\n") return
      this.advance(quote === "\"" && this.here === "\\" ? 2 : 1)
    }
    this.advance(end.length)
    // Up to two quotes may be directly before the closing three.
    for (let i = 0; multiline && i < 2 && this.here === quote; i++) this.advance()
  }
}

const unquoted = (part: string): string => {
  if (part.startsWith("'")) return part.slice(1, -1)
  try {
    return String(JSON.parse(part))
  } catch {
    // An escape that JSON does not have: svcd has no such key, and its raw text still differs from all keys.
    return part.slice(1, -1)
  }
}

/** The line, from 1, of a key in a valid document; the table's line if the key has none. */
export const tomlLines = (source: string): (path: ReadonlyArray<string>) => number => {
  const lines = new Scanner(source).scan()
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const line = lines.get(pathKey(path.slice(0, length)))
      if (line !== undefined) return line
    }
    return 1
  }
}
