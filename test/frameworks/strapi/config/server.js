module.exports = ({ env }) => ({
  host: '127.0.0.1',
  port: 0,
  app: { keys: ['one', 'two'] },
  logger: { startup: { enabled: false } },
  dirs: { public: env('PUBLIC_FOLDER') },
})
