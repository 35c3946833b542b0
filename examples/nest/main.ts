// Nest 11 on Express. `npx tsc -p examples/nest && node examples/nest/dist/main.js`, open /users/7 a few
// times, then /metrics. On the Fastify platform, leave out `app.use`: `attach` alone measures and sheds. In
// the filter, give the error handler `getRequest().raw`, `getResponse().raw` and an empty `next`.

import 'reflect-metadata'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Module,
  NotFoundException,
  Param,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createSpillway } from 'spillway'

const spillway = createSpillway()
const handleError = spillway.errorHandler()

@Controller('users')
class UsersController {
  @Get(':id')
  find(@Param('id') id: string) {
    // The answer contains the message only of an error with `expose`.
    if (id === '0') throw Object.assign(new NotFoundException('There is no user 0.'), { expose: true })
    return { id }
  }
}

@Module({ controllers: [UsersController] })
class AppModule {}

// Nest catches errors before Express does, so the error handler has to be a filter. It answers each error,
// counts it and logs it once.
@Catch()
class SpillwayFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost) {
    const http = host.switchToHttp()
    handleError(error, http.getRequest(), http.getResponse(), http.getNext())
  }
}

async function main() {
  const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] })
  // Before `listen`, which sets up the router: this middleware has to be the first.
  app.use(spillway.express())
  app.useGlobalFilters(new SpillwayFilter())

  const server: Server = app.getHttpServer()
  spillway.attach(server)

  // Drain first, then let Nest call onModuleDestroy of your providers.
  process.once('SIGTERM', async () => {
    await spillway.drain()
    await app.close()
  })

  await app.listen(process.env.PORT ?? 3000, '127.0.0.1')
  console.log(`Open http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`)
}

main()
