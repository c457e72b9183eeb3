import DirectDNS
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS

/// Listens, and builds each connection's pipeline: gate, SNI reader, TLS, HTTP, exchange.
struct ProviderListener: Sendable {
  let state: Watched<ProviderState>
  private let context: NIOSSLContext?
  private let maxConcurrentStreams: Int

  init(state: Watched<ProviderState>) throws {
    let configuration = state.read { $0.configuration }
    self.state = state
    maxConcurrentStreams = configuration.maxConcurrentStreams
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
    let configuration = state.read { $0.configuration }
    return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in initialise(channel) }
      .bind(host: configuration.address.description, port: configuration.port)
      .get()
  }

  private func initialise(_ channel: any Channel) -> EventLoopFuture<Void> {
    let accepted: ProviderConnection? = state.change { state in
      guard !state.isStopped else { return nil }
      state.accepted += 1
      let connection = ProviderConnection(number: state.accepted, channel: channel)
      state.connections[connection.number] = connection
      return connection
    }
    guard let connection = accepted else { return channel.close() }
    channel.closeFuture.whenComplete { _ in
      state.change { _ = $0.connections.removeValue(forKey: connection.number) }
    }
    return channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(ConnectionGate())
      guard !state.read({ $0.isMute }) else { return }
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
    _ channel: any Channel, _ connection: ProviderConnection
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

  private func addHTTP1(_ channel: any Channel, _ connection: ProviderConnection) throws {
    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
    try channel.pipeline.syncOperations.addHandler(
      ProviderExchange(state: state, connection: connection, version: .http1))
  }

  private func addHTTP2(_ channel: any Channel, _ connection: ProviderConnection) throws {
    var settings = NIOHTTP2Handler.ConnectionConfiguration()
    settings.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: maxConcurrentStreams),
      HTTP2Setting(parameter: .maxHeaderListSize, value: HPACKHeaderLimit.bytes),
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
          ProviderExchange(state: state, connection: connection, version: .http2),
        ])
      }
    }
  }

  private enum HPACKHeaderLimit {
    /// What NIO itself promises: 16 KiB of header fields.
    static let bytes = 16_384
  }
}
