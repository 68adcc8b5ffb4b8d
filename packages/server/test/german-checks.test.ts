/* Whether the built-in checks say in German what they say in English. */
import { describe, expect, it } from 'vitest'
import { toFixTemplate } from '../src/posture/checks/catalogue/catalogue-entry.ts'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import { findExampleRows } from '../src/posture/checks/catalogue/example-rows.ts'
import { parseTemplateProblems, renderTemplate } from '../src/posture/checks/render-template.ts'
import { findCheckWords } from '../src/sign-in/shown-issues/find-check-words.ts'
import { GERMAN_CHECKS } from '../src/sign-in/shown-issues/german/index.ts'

const VALUES = /issue\.value\.\w+/g
const valuesOf = (text: string) => new Set(text.match(VALUES) ?? [])

it('every built-in check has German words, and no others are there', () => {
  const slugs = CHECK_CATALOGUE.map(({ slug }) => slug)
  expect(Object.keys(GERMAN_CHECKS).toSorted()).toEqual(slugs.toSorted())
  expect(findCheckWords('firewall', 'en')).toBeUndefined()
  expect(findCheckWords('constructor', 'de')).toBeUndefined()
})

describe.each(CHECK_CATALOGUE)('$slug', (check) => {
  const words = GERMAN_CHECKS[check.slug]!
  const steps = toFixTemplate(words.steps)

  it('has templates that can be published, and names no other columns', () => {
    for (const [german, english] of [
      [words.rationale, check.rationaleTemplate],
      [steps, check.fixInstructionsTemplate],
    ] as const) {
      expect(parseTemplateProblems(german)).toEqual([])
      expect([...valuesOf(german)].filter((name) => !valuesOf(english).has(name))).toEqual([])
    }
  })

  it.each([...check.platforms])('tells what to do on %s, as it does in English', (platform) => {
    const render = (template: string) =>
      renderTemplate(template, {
        device: { name: 'ada-1', platform },
        issue: { title: check.issueTitle, value: findExampleRows(check.slug)[platform] ?? {} },
        organisation: { name: 'Acme' },
        check: { name: check.name },
        person: { name: 'Ada' },
      }).trim()
    const [german, english] = [render(steps), render(check.fixInstructionsTemplate)]
    expect(german === '').toBe(english === '')
    expect(german).not.toBe(english)
    // What is typed is the same in each language, but for names of what is looked for and put in.
    const commands = (text: string) =>
      [...text.matchAll(/`((?:sudo|systemctl|reg|net|brew|csrutil|npm|ssh-keygen|Set-)[^`]*)`/g)]
        .map(([, command = '']) =>
          command.replace(/DATEI/g, 'FILE').replace('user Gast', 'user guest'),
        )
        .toSorted()
    expect(commands(german)).toEqual(commands(english))
  })
})
