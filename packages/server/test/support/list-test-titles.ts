/* The tests of a file that run wherever it runs: not those in a comment, left out, or left out on some machines. */
import ts from 'typescript'

/** The titles of tests by `it` and `it.each`, as they are written, of the text of a file. */
export function listTestTitles(text: string): string[] {
  const titles: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const called = toCalled(node.expression)
      if (called === 'it' || called === 'it.each') {
        const [title] = node.arguments
        if (title !== undefined && ts.isStringLiteralLike(title)) titles.push(title.text)
      }
      if (called?.startsWith('describe.') === true && called !== 'describe.each') return
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('a.test.ts', text, ts.ScriptTarget.Latest))
  return titles
}

/** `it` of `it(`, `it.each` of `it.each(rows)(`, `describe.skip` of `describe.skip(`. */
function toCalled(callee: ts.Expression): string | undefined {
  if (ts.isIdentifier(callee)) return callee.text
  if (ts.isCallExpression(callee)) return toCalled(callee.expression)
  if (ts.isTaggedTemplateExpression(callee)) return toCalled(callee.tag)
  if (!ts.isPropertyAccessExpression(callee)) return undefined
  const of = toCalled(callee.expression)
  return of === undefined ? undefined : `${of}.${callee.name.text}`
}
