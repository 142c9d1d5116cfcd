#include "textflag.h"

// AVX2 tile kernels: c[r][0:16] += sum over k of a[r][k] * b[k][0:16] for
// r < 1 … 6, where b's rows are 32 apart: a call does half a panel. Row r of
// the tile accumulates in Y(2r) and Y(2r+1); Y12 and Y13 hold the 16 columns of
// b at the current k, Y14 one element of a, repeated. R8 and R9 point at rows 0
// and 3 of a, BX is a's stride.

#define ROW(addr, lo, hi) \
	VBROADCASTSS addr, Y14; \
	VFMADD231PS  Y12, Y14, lo; \
	VFMADD231PS  Y13, Y14, hi

#define MUL1 ROW((R8), Y0, Y1)
#define MUL2 MUL1; ROW((R8)(BX*1), Y2, Y3)
#define MUL3 MUL2; ROW((R8)(BX*2), Y4, Y5)
#define MUL4 MUL3; ROW((R9), Y6, Y7)
#define MUL5 MUL4; ROW((R9)(BX*1), Y8, Y9)
#define MUL6 MUL5; ROW((R9)(BX*2), Y10, Y11)

// ADD adds a finished row to c and steps to the next row.
#define ADD(lo, hi) \
	VADDPS  (DI), lo, lo; \
	VADDPS  32(DI), hi, hi; \
	VMOVUPS lo, (DI); \
	VMOVUPS hi, 32(DI); \
	ADDQ    DX, DI

#define ADD1 ADD(Y0, Y1)
#define ADD2 ADD1; ADD(Y2, Y3)
#define ADD3 ADD2; ADD(Y4, Y5)
#define ADD4 ADD3; ADD(Y6, Y7)
#define ADD5 ADD4; ADD(Y8, Y9)
#define ADD6 ADD5; ADD(Y10, Y11)

#define ZERO2(lo, hi) \
	VXORPS lo, lo, lo; \
	VXORPS hi, hi, hi

#define BEGIN \
	MOVQ a+0(FP), R8; \
	MOVQ lda+8(FP), BX; \
	MOVQ b+16(FP), SI; \
	MOVQ k+24(FP), CX; \
	MOVQ c+32(FP), DI; \
	MOVQ ldc+40(FP), DX; \
	LEAQ (BX)(BX*2), AX; \
	LEAQ (R8)(AX*1), R9; \
	ZERO2(Y0, Y1); \
	ZERO2(Y2, Y3); \
	ZERO2(Y4, Y5); \
	ZERO2(Y6, Y7); \
	ZERO2(Y8, Y9); \
	ZERO2(Y10, Y11)

#define LOAD \
	VMOVUPS (SI), Y12; \
	VMOVUPS 32(SI), Y13

#define NEXT \
	ADDQ $4, R8; \
	ADDQ $4, R9; \
	ADDQ $128, SI; \
	DECQ CX

// func tile256x1(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile256x1(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL1
	NEXT
	JNZ loop
	ADD1
	VZEROUPPER
	RET

// func tile256x2(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile256x2(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL2
	NEXT
	JNZ loop
	ADD2
	VZEROUPPER
	RET

// func tile256x3(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile256x3(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL3
	NEXT
	JNZ loop
	ADD3
	VZEROUPPER
	RET

// func tile256x4(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile256x4(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL4
	NEXT
	JNZ loop
	ADD4
	VZEROUPPER
	RET

// func tile256x5(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile256x5(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL5
	NEXT
	JNZ loop
	ADD5
	VZEROUPPER
	RET

// func tile256x6(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile256x6(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL6
	NEXT
	JNZ loop
	ADD6
	VZEROUPPER
	RET
