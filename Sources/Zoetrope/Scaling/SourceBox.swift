/// A part of a source picture with edges that may lie between pixels.
struct SourceBox: Sendable, Hashable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double
}
