// A page that throws for one order, late for another, and finds none for a third.

import { setTimeout } from 'node:timers/promises'
import { notFound } from 'next/navigation'
import { createElement, Suspense } from 'react'

async function Total() {
  await setTimeout(50)
  throw new URIError('no total')
}

export default async function Order({ params }) {
  const { id } = await params
  if (id === 'none') notFound()
  if (id === 'bad') throw new RangeError('no such order')
  if (id === 'late') return createElement(Suspense, { fallback: 'Total' }, createElement(Total))
  return createElement('p', null, `Order ${id}`)
}
