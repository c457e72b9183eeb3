// SPDX-License-Identifier: Apache-2.0
/// An answer as it is remembered beyond the process: what one provider said about one family of one name.
///
/// It holds no secret: a name, its addresses, the provider's name, and instants.
public struct StoredAnswer: Sendable, Hashable {
  /// What was asked.
  public var question: AddressQuestion
  /// What was said.
  public var content: Answer.Content
  /// The end of the CNAME chain, where the name is an alias.
  public var canonicalName: HostName?
  /// The name of the provider that said it, such as `alidns`.
  public var provider: String
  /// When it was asked for.
  public var asked: WallInstant
  /// When it expires.
  public var expires: WallInstant
  /// From when on nobody can use it any more, not even as an expired answer: a store may drop it.
  public var gone: WallInstant

  /// Creates an answer.
  public init(
    _ question: AddressQuestion, _ content: Answer.Content, canonicalName: HostName? = nil, provider: String,
    asked: WallInstant, expires: WallInstant, gone: WallInstant
  ) {
    self.question = question
    self.content = content
    self.canonicalName = canonicalName
    self.provider = provider
    self.asked = asked
    self.expires = expires
    self.gone = gone
  }
}
