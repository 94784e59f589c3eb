import { type Context, type Exit, Layer, Option, Tracer } from "effect"

type SpanArguments = Parameters<Tracer.Tracer["span"]>

let made = 0

/** A span that stays in memory, with what a host's tracer would send. */
export class RecordedSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly spanId = `span-${++made}`
  readonly traceId: string
  readonly sampled = true
  readonly name: string
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly context: Context.Context<never>
  readonly kind: Tracer.SpanKind
  readonly links: Array<Tracer.SpanLink>
  readonly attributes = new Map<string, unknown>()
  readonly events: Array<string> = []
  status: Tracer.SpanStatus

  constructor([name, parent, context, links, startTime, kind]: SpanArguments) {
    this.name = name
    this.parent = parent
    this.context = context
    this.links = [...links]
    this.kind = kind
    this.traceId = Option.isSome(parent) ? parent.value.traceId : `trace-${made}`
    this.status = { _tag: "Started", startTime }
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
  }

  attribute(key: string, value: unknown): void {
    this.attributes.set(key, value)
  }

  event(name: string): void {
    this.events.push(name)
  }

  addLinks(links: ReadonlyArray<Tracer.SpanLink>): void {
    this.links.push(...links)
  }

  /** How the span's work ended; `undefined` while it runs. */
  get exit(): Exit.Exit<unknown, unknown> | undefined {
    return this.status._tag === "Ended" ? this.status.exit : undefined
  }
}

/** A tracer in memory, for a test to provide as a host provides its own. It sees the spans of svcd alone. */
export class SpanLog {
  private readonly all: Array<RecordedSpan> = []

  readonly layer: Layer.Layer<never> = Layer.setTracer(Tracer.make({
    span: (...given) => {
      const span = new RecordedSpan(given)
      this.all.push(span)
      return span
    },
    context: (work) => work()
  }))

  /** In the order in which they began. */
  get spans(): ReadonlyArray<RecordedSpan> {
    return this.all.filter(({ name }) => name.startsWith("svcd."))
  }

  named(name: string): ReadonlyArray<RecordedSpan> {
    return this.spans.filter((span) => span.name === name)
  }

  forget(): void {
    this.all.length = 0
  }

  /** Each span with the names of its ancestors, the oldest first: `a > b > c`. */
  get paths(): ReadonlyArray<string> {
    const pathOf = (span: Tracer.AnySpan): ReadonlyArray<string> =>
      span instanceof RecordedSpan
        ? [...Option.match(span.parent, { onNone: () => [], onSome: pathOf }), span.name]
        : []
    return this.spans.map((span) => pathOf(span).join(" > "))
  }
}
