import DirectDNS
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS

/// Listens, and builds each connection's pipeline: gate, SNI reader, TLS, HTTP, collector.
struct HTTPListener<State: ServerState>: Sendable {
  private let state: Watched<State>
  private let configuration: ServerConfiguration
  private let receive: RequestCollector.Receiver
  private let context: NIOSSLContext?

  init(
    state: Watched<State>, configuration: ServerConfiguration, receive: @escaping RequestCollector.Receiver
  ) throws {
    self.state = state
    self.configuration = configuration
    self.receive = receive
    context = try configuration.identity.map { identity in
      var tls = TLSConfiguration.makeServerConfiguration(
        certificateChain: try identity.certificates.flatMap { text in
          try NIOSSLCertificate.fromPEMBytes(Array(text.utf8)).map { .certificate($0) }
        },
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.privateKey.utf8), format: .pem)))
      tls.applicationProtocols = configuration.httpVersions.map(\.alpn)
      return try NIOSSLContext(configuration: tls)
    }
  }

  func listen() async throws -> any Channel {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in initialise(channel) }
      .bind(host: configuration.address.description, port: configuration.port)
      .get()
  }

  private func initialise(_ channel: any Channel) -> EventLoopFuture<Void> {
    guard let connection = state.change({ $0.log.accept(channel) }) else { return channel.close() }
    channel.closeFuture.whenComplete { _ in
      state.change { _ = $0.log.connections.removeValue(forKey: connection.number) }
    }
    return channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(ConnectionGate())
      guard !state.read({ $0.log.isMute }) else { return }
      guard let context else { return try addHTTP1(channel, connection) }
      let reader = SNIHandler { result in
        if case .hostname(let name) = result { connection.serverName.withLockedValue { $0 = name } }
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            NIOSSLServerHandler(context: context), negotiation(channel, connection),
          ])
        }
      }
      try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(reader))
    }
  }

  private func negotiation(
    _ channel: any Channel, _ connection: ServerConnection
  ) -> ApplicationProtocolNegotiationHandler {
    ApplicationProtocolNegotiationHandler { result in
      channel.eventLoop.makeCompletedFuture {
        switch result {
        case .negotiated("h2"): try addHTTP2(channel, connection)
        default: try addHTTP1(channel, connection)
        }
      }
    }
  }

  private func addHTTP1(_ channel: any Channel, _ connection: ServerConnection) throws {
    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
    try channel.pipeline.syncOperations.addHandler(
      RequestCollector(connection: connection, version: .http1, receive: receive))
  }

  private func addHTTP2(_ channel: any Channel, _ connection: ServerConnection) throws {
    var settings = NIOHTTP2Handler.ConnectionConfiguration()
    settings.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: configuration.maxConcurrentStreams),
      // What NIO itself promises.
      HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
    ]
    // A truncated body has to be sendable.
    settings.contentLengthValidation = .disabled
    // NIO sends GOAWAY after two hundred resets in half a minute. libcurl 7.88 resets every stream whose body is
    // complete before its end has come, and NIO's codec ends streams with a frame of their own.
    var streams = NIOHTTP2Handler.StreamConfiguration()
    streams.streamResetFrameRateLimit.maximumCount = 10_000
    _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: settings, streamConfiguration: streams
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        try stream.pipeline.syncOperations.addHandlers([
          StreamRefuser(), HTTP2FramePayloadToHTTP1ServerCodec(),
          RequestCollector(connection: connection, version: .http2, receive: receive),
        ])
      }
    }
  }
}
