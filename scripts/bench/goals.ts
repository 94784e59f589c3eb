/** Goals as data, and what figures say about them. */

/** The figures of a section: the path of each in the result, and its value as the page shows it. */
export type Figures = ReadonlyArray<readonly [path: string, value: string]>

/**
 * A limit of one figure, or of several: `*` stands for one part of a path, or for its beginning or end. `turn.*.p99`, for example,
 * has a limit for each kind of turn.
 */
export type Goal = readonly [figure: string, is: "<" | "<=" | ">=", limit: number]

const LITERAL = /[.+?^${}()|[\]\\]/g

const patternOf = (figure: string): RegExp =>
  new RegExp(`^${figure.replaceAll(LITERAL, "\\$&").replaceAll("*", "[^.]*")}$`, "u")

/** The number that a cell of a table shows; not a number where it shows text. */
export const numberOf = (value: string): number => value === "" ? Number.NaN : Number(value.replaceAll(",", ""))

const holds = ([, is, limit]: Goal, value: number): boolean =>
  is === "<" ? value < limit : is === "<=" ? value <= limit : value >= limit

const shownGoal = ([, is, limit]: Goal): string => `${is} ${limit.toLocaleString("en-US")}`

/** The figures that miss a goal, and the goals whose figure was not measured, each as text. */
export const missesOf = (
  figures: Figures,
  goals: ReadonlyArray<Goal>
): { readonly missed: ReadonlyArray<string>; readonly unmeasured: ReadonlyArray<string> } => {
  const missed: Array<string> = []
  const unmeasured: Array<string> = []
  for (const goal of goals) {
    const pattern = patternOf(goal[0])
    const found = figures.filter(([path]) => pattern.test(path))
    if (found.length === 0) unmeasured.push(`\`${goal[0]}\``)
    for (const [path, value] of found) {
      if (!holds(goal, numberOf(value))) missed.push(`\`${path}\` is ${value} (goal: ${shownGoal(goal)})`)
    }
  }
  return { missed, unmeasured }
}

/** The lines below the text of a section: its goals, and which figures miss them. Empty without goals. */
export const goalLines = (figures: Figures, goals: ReadonlyArray<Goal>): ReadonlyArray<string> => {
  if (goals.length === 0) return []
  const { missed, unmeasured } = missesOf(figures, goals)
  return [
    `Goals: ${goals.map((goal) => `\`${goal[0]}\` ${shownGoal(goal)}`).join("; ")}.`,
    "",
    missed.length === 0 ? "Misses: none." : `Misses: ${missed.join("; ")}.`,
    ...unmeasured.length === 0 ? [] : ["", `Not measured: ${unmeasured.join("; ")}.`]
  ]
}
