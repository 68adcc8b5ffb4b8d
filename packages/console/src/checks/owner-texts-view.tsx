import { SegmentedControl, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { Check } from '../api/generated/types.gen.ts'
import { CodeBlock } from '../kit/code-block.tsx'
import { Fault } from '../kit/confirm.tsx'
import { Markdown } from '../kit/markdown.tsx'
import { Section } from '../kit/page.tsx'
import classes from './checks.module.css'
import { renderOwnerText } from './owner-text.ts'
import { texts } from './texts.ts'

/** The texts of a check for one platform at a time, where they differ. */
export function OwnerTextsView({ check }: { readonly check: Check }) {
  const [platform = '', setPlatform] = useState<string | undefined>(check.compatible_platforms[0])
  const forms = useMemo(() => toForms(check), [check])
  const isSame = new Set(Array.from(forms.values(), (form) => JSON.stringify(form))).size < 2
  const [rationale, fix] = forms.get(platform) ?? []
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
  /** What is wrong with the template. */
  readonly fault?: string
  readonly isFilled: boolean
}

/** Both texts by platform. */
function toForms(check: Check): ReadonlyMap<string, readonly ShownText[]> {
  const templates = [check.rationale_template, check.fix_instructions_template]
  return new Map(
    check.compatible_platforms.map((platform) => [
      platform,
      templates.map((template) => showOwnerText(template, platform)),
    ]),
  )
}

function showOwnerText(template: string, platform: string): ShownText {
  try {
    return { template, ...renderOwnerText(template, platform) }
  } catch (error) {
    return {
      template,
      fault: error instanceof Error ? error.message : String(error),
      isFilled: false,
    }
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
          <Fault error={new Error(shown.fault)} />
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
