/** Carriers of clients; a request whose carrier is not given may come from each. */
export const carriers = ['dx', 'lt', 'yd', 'other'] as const
export type Carrier = (typeof carriers)[number]
