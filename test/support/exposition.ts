/** A family of an exposition as a collector reads it. */
export interface ExposedFamily {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly samples: ReadonlyArray<{
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
  }>
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y

const unescape = (text: string): string => text.replace(/\\(.)/gs, (_, char: string) => char === "n" ? "\n" : char)

const readLabels = (text: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text)
    if (match === null) throw new Error(`labels that cannot be read: {${text}}`)
    labels[match[1] ?? ""] = unescape(match[2] ?? "")
  }
  return labels
}

const readValue = (text: string): number => text === "+Inf" ? Infinity : text === "-Inf" ? -Infinity : Number(text)

/** Reads the text format 0.0.4, in the order of its families. Throws where a collector would complain. */
export const readExposition = (text: string): ReadonlyArray<ExposedFamily> => {
  if (!text.endsWith("\n")) throw new Error("the last line does not end")
  const families: Array<
    { name: string; help: string; type: string; samples: Array<ExposedFamily["samples"][number]> }
  > = []
  for (const line of text.slice(0, -1).split("\n")) {
    const help = /^# HELP (\S+) (.*)$/s.exec(line)
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)
    const last = families.at(-1)
    if (help !== null) families.push({ name: help[1] ?? "", help: unescape(help[2] ?? ""), type: "", samples: [] })
    else if (type !== null && last !== undefined && last.name === type[1]) last.type = type[2] ?? ""
    else {
      const [, name, labels = "", value = ""] = SAMPLE.exec(line) ?? []
      if (name === undefined || last === undefined || !name.startsWith(last.name)) throw new Error(`no sample: ${line}`)
      last.samples.push({ name, labels: readLabels(labels), value: readValue(value) })
    }
  }
  return families
}
