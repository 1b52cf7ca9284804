export { DBOS } from '@dbos-inc/dbos-sdk'
