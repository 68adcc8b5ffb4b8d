import { CheckCircleFillIcon, XCircleIcon } from '@primer/octicons-react'
import type { CustomCheckDraft } from '../../api/generated/types.gen.ts'
import { Section } from '../../kit/page.tsx'
import { StateBadge } from '../../kit/tone.tsx'
import classes from '../checks.module.css'
import { texts } from './texts.ts'

type SectionName = keyof typeof texts.sections

const TONES = { missing: 'unknown', bad: 'warn', good: 'good' } as const

interface DraftReadinessProps {
  /** As it is saved: the service judges nothing else. */
  readonly draft: CustomCheckDraft
  /** Something is entered that the service has not judged. */
  readonly isUnsaved: boolean
}

/** How far each section is, and what is missing until the draft can be published. */
export function DraftReadiness({ draft, isUnsaved }: DraftReadinessProps) {
  return (
    <Section
      title={texts.readiness}
      lead={isUnsaved ? texts.readinessUnsaved : texts.readinessLead}
    >
      <div className={classes.stack}>
        <ul className={classes.moves}>
          {(Object.keys(texts.sections) as SectionName[]).map((name) => (
            <li key={name} className={classes.move}>
              <span>{texts.sections[name]}</span>
              <StateBadge
                tone={TONES[draft[name]]}
                icon={draft[name] === 'good' ? CheckCircleFillIcon : XCircleIcon}
                isPlain
              >
                {texts.statuses[draft[name]]}
              </StateBadge>
            </li>
          ))}
        </ul>
        {draft.problems.length === 0 ? null : (
          <Lines
            title={texts.problems}
            lines={draft.problems.map(
              ({ field, message }) => `${texts.fields[field] ?? field}: ${message}`,
            )}
          />
        )}
        {draft.warnings.length === 0 ? null : (
          <Lines
            title={texts.warnings}
            lines={draft.warnings.map(
              ({ platform, message }) => `${texts.platformNames[platform]}: ${message}`,
            )}
          />
        )}
      </div>
    </Section>
  )
}

function Lines({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  return (
    <div className={classes.texts}>
      <div>
        <h3>{title}</h3>
        <ul className={classes.moves}>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </div>
    </div>
  )
}
