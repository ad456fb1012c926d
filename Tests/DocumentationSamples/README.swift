import Zoetrope

func sampleOfTheREADME() async throws {
  let image = try AnimatedImage(contentsOf: "party.gif")
  print(image.canvasSize, image.frames.count, image.playCount)

  for try await frame in image.play() {
    show(frame.bitmap, at: frame.presentationTime)  // on time; a late frame never delays the next
  }
}
