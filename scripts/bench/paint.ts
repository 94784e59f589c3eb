import { Effect } from "effect"
import { chromium, openBrowser } from "../../test/web/browser.ts"

/** Loads of each page, each in a tab of its own. */
const LOADS = 20

/** Milliseconds from the begin of a load until the largest part of the page was painted, once two frames were drawn after it. */
const LARGEST_PAINT = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true }))))`

const measured = async (load: () => Promise<number>): Promise<object> => {
  const times: Array<number> = []
  for (let i = 0; i < LOADS; i++) times.push(await load())
  times.sort((a, b) => a - b)
  return { p50Milliseconds: Math.round(times[LOADS >> 1] ?? 0), worstMilliseconds: Math.round(times.at(-1) ?? 0) }
}

/** The largest contentful paint of pages in Chromium, if there is one. `targets` are by the name of their figure. */
export const paints = (origin: string, targets: Readonly<Record<string, string>>): Promise<object> => {
  if (chromium === undefined) return Promise.resolve({ skipped: "there is no Chromium" })
  const measure = Effect.flatMap(openBrowser(chromium), (browser) =>
    Effect.promise(async () => {
      const load = async (target: string): Promise<number> => {
        const page = await browser.newPage()
        await page.goto(`${origin}${target}`)
        const time = Number(await page.evaluate(LARGEST_PAINT))
        await page.close()
        return time
      }
      const found: Array<readonly [string, object]> = []
      for (const [name, target] of Object.entries(targets)) found.push([name, await measured(() => load(target))])
      return Object.fromEntries(found)
    }))
  return Effect.runPromise(Effect.scoped(measure))
}
