/** A number of repetitions that the command line says, as `--runs 3`. */
export const countOf = (flag: "--runs" | "--pairs" | "--domains", usual: number): number => {
  const at = process.argv.indexOf(flag)
  return at < 0 ? usual : Number(process.argv[at + 1])
}
