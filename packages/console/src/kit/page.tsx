/* The frame of a page: its title, what can be done, its sections and its facts. */
import { Anchor, Breadcrumbs, Group, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect, type ReactNode } from 'react'
import classes from './page.module.css'

/** Label and path of each page above. */
export type PageAbove = readonly { readonly label: string; readonly to: string }[]

interface PageProps {
  readonly title: string
  /** Beside the title, such as a state. */
  readonly badge?: ReactNode
  /** One sentence on what the page is for, or what is so. */
  readonly lead?: ReactNode
  /** Where the page hangs. */
  readonly above?: PageAbove
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode
  /** The content takes the height of the window, and scrolls inside: for tables. */
  readonly isFilling?: boolean
  readonly children: ReactNode
}

export function Page(props: PageProps) {
  const { title, badge, lead, above = [], actions, isFilling = false, children } = props
  usePageTitle(title)
  return (
    <div className={classes.page} data-filling={isFilling ? '' : undefined}>
      {above.length === 0 ? null : (
        <Breadcrumbs className={classes.above} separatorMargin={6}>
          {above.map(({ label, to }) => (
            <Anchor key={to} component={Link} to={to} size="sm" truncate>
              {label}
            </Anchor>
          ))}
          {title === above.at(-1)?.label ? null : (
            <Text size="sm" c="dimmed" component="span" truncate>
              {title}
            </Text>
          )}
        </Breadcrumbs>
      )}
      <header className={classes.header}>
        <div className={classes.heading}>
          <Group gap="sm" wrap="wrap">
            <Title order={1} className={classes.title}>
              {title}
            </Title>
            {badge}
          </Group>
          {lead === undefined ? null : <div className={classes.lead}>{lead}</div>}
        </div>
        {actions === undefined ? null : <Group gap="xs">{actions}</Group>}
      </header>
      {children}
    </div>
  )
}

/** Names the page in the browser's tab and history; another part of the page does so where it is undefined. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · Heliograph`
  }, [title])
}

interface SectionProps {
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** The content reaches the edges, as tables do. */
  readonly isFlush?: boolean
}

export function Section({ title, lead, actions, children, isFlush = false }: SectionProps) {
  return (
    <section className={classes.section} aria-label={title}>
      <header className={classes.sectionHeader}>
        <div>
          <Title order={2} className={classes.sectionTitle}>
            {title}
          </Title>
          {lead === undefined ? null : <div className={classes.lead}>{lead}</div>}
        </div>
        {actions === undefined ? null : <Group gap="xs">{actions}</Group>}
      </header>
      <div className={isFlush ? classes.flush : classes.body}>{children}</div>
    </section>
  )
}

interface FactsProps {
  readonly facts: readonly (readonly [string, ReactNode])[]
  /** In a column beside the content. */
  readonly isNarrow?: boolean
}

/** A list of facts: what, and how it is. */
export function Facts({ facts, isNarrow = false }: FactsProps) {
  return (
    <dl className={classes.facts} data-narrow={isNarrow ? '' : undefined}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
