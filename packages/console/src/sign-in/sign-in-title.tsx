import { Text, Title } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import { usePageTitle } from '../kit/page.tsx'
import classes from './sign-in-page.module.css'

interface SignInTitleProps {
  readonly title: string
  readonly children?: ReactNode
}

/**
 * What a page before the console is about, which its tab says too. Where the button that led to it is gone, it takes
 * the focus, so that the keyboard goes on here and readers of screens say it.
 */
export function SignInTitle({ title, children }: SignInTitleProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  usePageTitle(title)
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [title])
  return (
    <div>
      <Title order={1} className={classes.title} ref={heading} tabIndex={-1}>
        {title}
      </Title>
      {children === undefined ? null : <Text c="dimmed">{children}</Text>}
    </div>
  )
}
