import { SegmentedControl, Text } from '@mantine/core'
import { useState } from 'react'
import type { Check } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Fault } from '../kit/confirm.tsx'
import { Markdown } from '../kit/markdown.tsx'
import { Section } from '../kit/page.tsx'
import classes from './checks.module.css'
import { isFilledIn, renderOwnerText } from './owner-text.ts'
import { texts } from './texts.ts'

/** The texts of a check for one platform at a time, where they differ. */
export function OwnerTextsView({ check }: { readonly check: Check }) {
  const [platform = '', setPlatform] = useState<string | undefined>(check.compatible_platforms[0])
  const templates = [check.rationale_template, check.fix_instructions_template]
  const forms = check.compatible_platforms.map((each) =>
    templates.map((template) => showOwnerText(template, each)),
  )
  const isSame = new Set(forms.map((form) => JSON.stringify(form))).size < 2
  const [rationale, fix] = templates.map((template) => showOwnerText(template, platform))
  const isFilled = [rationale, fix].some((shown) => shown?.isFilled === true)
  return (
    <Section
      title={texts.person}
      lead={check.issue_title}
      actions={
        isSame ? undefined : (
          <SegmentedControl
            size="xs"
            aria-label={texts.platforms}
            value={platform}
            onChange={setPlatform}
            data={check.compatible_platforms.map((value) => ({
              value,
              label: texts.platformNames[value],
            }))}
          />
        )
      }
    >
      <div className={classes.texts}>
        <OwnerText title={texts.rationale} shown={rationale} />
        <OwnerText title={texts.fix} shown={fix} />
        {isFilled ? (
          <Text size="sm" c="dimmed">
            {texts.filledIn}
          </Text>
        ) : null}
      </div>
    </Section>
  )
}

interface ShownText {
  readonly template: string
  readonly text?: string
  readonly fault?: Error
  readonly isFilled: boolean
}

/** The text, or what is wrong with its template. */
function showOwnerText(template: string, platform: string): ShownText {
  try {
    const text = renderOwnerText(template, platform)
    return { template, text, isFilled: isFilledIn(template) }
  } catch (error) {
    const fault = error instanceof Error ? error : new Error(String(error))
    return { template, fault, isFilled: false }
  }
}

interface OwnerTextProps {
  readonly title: string
  readonly shown: ShownText | undefined
}

function OwnerText({ title, shown }: OwnerTextProps) {
  return (
    <div>
      <h3>{title}</h3>
      {shown?.fault !== undefined ? (
        <>
          <Fault error={shown.fault} />
          <CodeBlock name={title} value={shown.template} />
        </>
      ) : shown?.text === undefined || shown.text === '' ? (
        <p className={classes.text}>{texts.noText}</p>
      ) : (
        <Markdown text={shown.text} />
      )}
    </div>
  )
}
